import { operatorExposure } from "../../runtime/transport/exposure.js";
import { type OperatorServerOptions, startOperatorServer } from "../grpc/operators/server.js";
import type { Serving } from "../grpc/server.js";
import { readCallbackSecrets } from "../startup/callbacks.js";
import type { Config } from "../startup/config.js";
import { OperatorError } from "../startup/operator-error.js";
import type { Database } from "../storage/database.js";
import { StoredAdministration } from "../storage/operators/administration.js";
import { bookReads } from "../storage/operators/book-reads.js";
import { depositRegistration } from "./deposit-registration.js";
import { railChanges } from "./rail-changes.js";
import { railReads } from "./rail-reads.js";
import { signIn } from "./sign-in.js";

/**
 * Serves operators, if they have an address. Throws an OperatorError if it cannot be used, or if
 * other machines could read the keys.
 */
export async function startOperators(
  config: Pick<Config, "operatorAddress" | "fourEyes" | "callbacks" | "railHosts" | "consoleOrigin">,
  database: Database,
  options: Omit<
    OperatorServerOptions,
    "address" | "administration" | "bookReads" | "railReads" | "railChanges" | "depositRegistration" | "signIn"
  >,
): Promise<Serving | undefined> {
  const { operatorAddress: address, fourEyes, callbacks, railHosts: hosts, consoleOrigin } = config;
  if (address === undefined) return undefined;
  const [exposure] = operatorExposure(address, options.tls !== undefined);
  if (exposure !== undefined) throw new OperatorError(exposure);
  const { now } = options;
  const administration = new StoredAdministration(database, { now, fourEyes });
  const reads = {
    signIn: signIn(database, administration, { consoleOrigin, now }),
    bookReads: bookReads(database),
    railReads: railReads(database, { now, hosts, hasCallbacks: callbacks !== undefined }),
    railChanges: railChanges(database, { now, hosts }),
    depositRegistration: depositRegistration(database, {
      callbacks: () => callbacks && { settings: callbacks, secrets: readCallbackSecrets(callbacks) },
      hosts,
      now,
    }),
  };
  try {
    return await startOperatorServer({ ...options, ...reads, address, administration });
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    const message = `The AdminService cannot be served on KESC_OPERATOR_ADDRESS: ${reason}. Set it to another address.`;
    throw new OperatorError(message, { cause: error });
  }
}
