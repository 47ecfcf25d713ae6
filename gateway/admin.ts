import type { Logger } from "pino";

import { startAdminServer } from "../runtime/metrics/admin-server.js";
import { textOfSums } from "../runtime/metrics/metrics.js";
import type { GatewayConfig } from "./config.js";
import { type GatewayProgram, GatewayStartError } from "./program.js";

/**
 * Serves the metrics of the gateway until the process ends, if they are on. Throws a
 * GatewayStartError that names the variable if the address cannot be used.
 */
export async function startAdmin(
  { adminAddress: listen }: Pick<GatewayConfig, "adminAddress">,
  gateway: Pick<GatewayProgram, "metrics">,
  log: Logger,
): Promise<void> {
  if (listen === undefined) return;
  const metrics = async (): Promise<string> => textOfSums(await gateway.metrics());
  const onError = (error: unknown): void => {
    log.error({ err: error }, "the metrics could not be read, and are tried again");
  };
  try {
    const admin = await startAdminServer({ listen, metrics, onError });
    log.info({ admin: admin.address }, "metrics");
    log.flush();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayStartError(
      `the gateway cannot start: the metrics cannot be served on KESC_HTTP_ADMIN_ADDRESS: ${reason}`,
    );
  }
}
