import type { Logger } from "pino";

import { type AdminServer, startAdminServer } from "../runtime/metrics/admin-server.js";
import type { GatewayConfig } from "./config.js";

/**
 * Serves the metrics, if they are on. Rejects with an Error that names the variable if the address
 * cannot be used.
 */
export async function startAdmin(
  { adminAddress: listen }: Pick<GatewayConfig, "adminAddress">,
  { log, metrics }: { readonly log: Logger; readonly metrics: () => Promise<string> },
): Promise<AdminServer | undefined> {
  if (listen === undefined) return undefined;
  const onError = (error: unknown): void => {
    log.error({ err: error }, "the metrics could not be read, and are tried again");
  };
  try {
    return await startAdminServer({ listen, metrics, onError });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the metrics cannot be served on KESC_HTTP_ADMIN_ADDRESS: ${reason}`, { cause: error });
  }
}
