import type { Logger } from "pino";
import { typeidUnboxed } from "typeid-js";

import type { AccountId, TransactionId } from "./domain/values/ids.js";
import type { UnixMillis } from "./domain/values/time.js";
import { startGrpcServer } from "./grpc/server.js";
import { Ledger } from "./ledger/ledger.js";
import { now as systemClock } from "./startup/clock.js";
import type { Config } from "./startup/config.js";
import { failureFacts } from "./startup/failure-facts.js";
import { openCurrentDatabase } from "./startup/open-database.js";
import { OperatorError } from "./startup/operator-error.js";
import type { Database } from "./storage/database.js";
import { keys } from "./storage/keys.js";
import { reads } from "./storage/reads.js";

// The share of the grace period for answering calls. The rest is for closing the ledger and the
// database.
const DRAIN_SHARE = 0.9;

export interface ServerDependencies {
  readonly logger: Logger;
  /** The system's clock when omitted. */
  readonly now?: () => UnixMillis;
  /** An open, migrated database, which its owner closes. Opened from the config when omitted. */
  readonly database?: Database;
}

export interface RunningServer {
  /** Where it listens, with its real port. */
  readonly address: string;
  readonly ledger: Pick<Ledger, "submit">;
  /**
   * Answers every call that was taken, and takes no more; then closes the ledger and the database.
   * Rejects if calls were cut at the end of the grace period.
   */
  stop(): Promise<void>;
}

/**
 * Starts the server: database, ledger, gRPC. Sets no signal handler and never ends the process.
 *
 * Throws an OperatorError when it cannot start: no database, an old schema, or an address that is
 * in use.
 */
export async function startServer(config: Config, dependencies: ServerDependencies): Promise<RunningServer> {
  const { logger, now = systemClock } = dependencies;
  const database = dependencies.database ?? (await openCurrentDatabase(config.database));
  const closeDatabase = async (): Promise<void> => {
    if (dependencies.database === undefined) await database.close();
  };
  const ledger = new Ledger({
    committer: database.committer,
    now,
    batchMax: config.batchMax,
    queueMax: config.queueMax,
    onStoreError: (error, batchSize) => {
      logger.error({ kind: error.kind, batch_size: batchSize, ...failureFacts(error) }, "a batch was not committed");
    },
  });
  try {
    const server = await startGrpcServer({
      address: config.grpcAddress,
      ledger,
      reads: reads(database),
      keys: keys(database, now),
      ping: () => database.ping(),
      now,
      newAccountId: () => typeidUnboxed("acc") as string as AccountId,
      newTransactionId: () => typeidUnboxed("txn") as string as TransactionId,
      logger,
      limits: config.grpcLimits,
    });
    return {
      address: server.address,
      ledger,
      stop: async () => {
        try {
          await server.stop(config.shutdownGraceSeconds * 1_000 * DRAIN_SHARE);
        } finally {
          await ledger.close();
          await closeDatabase();
        }
      },
    };
  } catch (error) {
    await closeDatabase();
    throw addressError(config.grpcAddress, error) ?? error;
  }
}

function addressError(address: string, error: unknown): OperatorError | undefined {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  if (!/EADDRINUSE|EADDRNOTAVAIL|EACCES|ENOTFOUND|No address added/.test(reason)) return undefined;
  const what = reason.includes("EADDRINUSE") ? "the address is in use already" : "the address is not available";
  const advice = "Stop the program that listens there, or set KESC_GRPC_ADDRESS to another address";
  return new OperatorError(`The gRPC server cannot listen on ${address}: ${what}. ${advice}.`, 1, { cause: error });
}
