import { operatorExposure } from "../../runtime/transport/exposure.js";
import { type OperatorServerOptions, startOperatorServer } from "../grpc/operator-server.js";
import type { Serving } from "../grpc/server.js";
import type { Config } from "../startup/config.js";
import { OperatorError } from "../startup/operator-error.js";
import type { Database } from "../storage/database.js";
import { type OperatorConfig, type OperatorParts, operatorParts } from "./operator-parts.js";

/**
 * Serves operators, if they have an address. Throws an OperatorError if it cannot be used, or if
 * other machines could read the keys.
 */
export async function startOperators(
  config: Pick<Config, "operatorAddress" | "fourEyes"> & OperatorConfig,
  database: Database,
  options: Omit<OperatorServerOptions, "address" | keyof OperatorParts>,
): Promise<Serving | undefined> {
  const { operatorAddress: address, fourEyes, callbacks } = config;
  if (address === undefined) return undefined;
  const [exposure] = operatorExposure(address, options.tls !== undefined);
  if (exposure !== undefined) throw new OperatorError(exposure);
  const { now } = options;
  const parts = operatorParts(database, config, {
    now,
    fourEyes,
    hasCallbacks: callbacks !== undefined,
    isServer: true,
  });
  try {
    return await startOperatorServer({ ...options, ...parts, address });
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    const message = `The AdminService cannot be served on KESC_OPERATOR_ADDRESS: ${reason}. Set it to another address.`;
    throw new OperatorError(message, { cause: error });
  }
}
