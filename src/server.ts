import pino, { type Logger } from "pino";
import { typeidUnboxed } from "typeid-js";

import { traceOf } from "../runtime/error-trace.js";
import { atEndOfTurn, MicroBatch } from "../runtime/micro-batch.js";
import type { AccountId, TransactionId } from "./domain/values/ids.js";
import { type GrpcServer, startGrpcServer } from "./grpc/server.js";
import { Ledger } from "./ledger/ledger.js";
import { now } from "./startup/clock.js";
import type { Config, LogLevel } from "./startup/config.js";
import { failureFacts } from "./startup/failure-facts.js";
import { openCurrentDatabase } from "./startup/open-database.js";
import { Problem } from "./startup/operator-error.js";
import type { Database } from "./storage/database.js";
import { keys } from "./storage/keys.js";
import { reads } from "./storage/reads.js";

const LOG_BUFFER_BYTES = 4_096;
const LOG_WAITING_BYTES_MAX = 16_777_216;
const LOG_FLUSH_MILLIS = 1_000;
// Of the grace period: what answering may take. The rest is for closing the ledger and the
// database.
const DRAIN_SHARE = 0.9;

export interface RunOptions {
  /**
   * Leave signals to the process that started this one: it gets them too, and knows in which order
   * to stop.
   */
  readonly supervised: boolean;
}

/**
 * Runs the server until it is told to stop: by SIGTERM or SIGINT, by a message {kind: "stop"} from
 * the process that started it, or by that process' end. Answers the exit code: 0 when everything in
 * flight was answered. Ends the process by force, with 1, when stopping takes longer than the grace
 * period.
 *
 * Throws a Problem when it can't start: no database, an old schema, or an address that is taken.
 */
export async function runServer(config: Config, options: RunOptions): Promise<0 | 1> {
  // From the first moment on: whoever starts this process may be quick to stop it.
  const told = toldToStop(options);
  const logger = openLog(config.logLevel);
  const database = await openCurrentDatabase(config.database);
  const ledger = openLedger(config, database, logger);
  const server = await startServer(config, { database, ledger, logger }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });

  logger.info({ address: server.address, database: database.engine.name }, "ready");
  // Whoever waits for this line should not have to wait for the next flush.
  logger.flush();
  process.send?.({ kind: "ready", address: server.address });

  const cause = await told;
  logger.info({ cause }, "stopping");
  setTimeout(() => {
    logger.error("the grace period is over: stopping by force");
    process.exit(1);
  }, config.shutdownGraceSeconds * 1_000).unref();
  return stop({ server, ledger, database, logger }, config);
}

interface Running {
  readonly server: GrpcServer;
  readonly ledger: Ledger;
  readonly database: Database;
  readonly logger: Logger;
}

function openLedger(config: Config, database: Database, logger: Logger): Ledger {
  return new Ledger({
    committer: database.committer,
    now,
    batchMax: config.batchMax,
    queueMax: config.queueMax,
    onStoreError: (error, batchSize) => {
      logger.error({ kind: error.kind, batch_size: batchSize, ...failureFacts(error) }, "a batch was not committed");
    },
  });
}

async function startServer(
  { grpcAddress: address, grpcLimits: limits }: Config,
  { database, ledger, logger }: Omit<Running, "server">,
): Promise<GrpcServer> {
  try {
    return await startGrpcServer({
      address,
      ledger,
      reads: reads(database),
      keys: keys(database, now),
      ping: () => database.ping(),
      now,
      newAccountId: () => typeidUnboxed("acc") as string as AccountId,
      newTransactionId: () => typeidUnboxed("txn") as string as TransactionId,
      logger,
      limits,
    });
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
    if (!/EADDRINUSE|EADDRNOTAVAIL|EACCES|ENOTFOUND|No address added/.test(reason)) throw error;
    const what = reason.includes("EADDRINUSE") ? "it is in use already" : "it can't be listened on";
    const advice = "Stop what listens there, or set KESC_GRPC_ADDRESS to another";
    throw new Problem(`gRPC can't have the address ${address}: ${what}. ${advice}.`, 1, { cause: error });
  }
}

/** Resolves with what says it first. */
function toldToStop({ supervised }: RunOptions): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"]) {
      process.on(signal, () => {
        if (!supervised) resolve(signal);
      });
    }
    process.on("disconnect", () => {
      resolve("disconnect");
    });
    process.on("message", (message: unknown) => {
      if (typeof message === "object" && message !== null && "kind" in message && message.kind === "stop") {
        resolve("message");
      }
    });
  });
}

/** Answers everything in flight, then lets go of the database. Answers the exit code. */
async function stop({ server, ledger, database, logger }: Running, config: Config): Promise<0 | 1> {
  try {
    await server.stop(config.shutdownGraceSeconds * 1_000 * DRAIN_SHARE);
    await ledger.close();
    await database.close();
    logger.info("stopped");
    return 0;
  } catch (error) {
    logger.error({ trace: traceOf(error) }, "did not stop cleanly");
    return 1;
  }
}

/**
 * Opens the log on standard output. Lines wait a second at most: writing each would cost as much as
 * a call.
 */
function openLog(level: LogLevel): Logger {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: LOG_BUFFER_BYTES,
    maxLength: LOG_WAITING_BYTES_MAX,
  });
  // A log that can't be written (a full disk, a reader that has gone) costs its lines, not the
  // service.
  destination.on("error", () => undefined);
  // One write for the lines of a turn: with each the destination copies all that it holds, an
  // eighth of all the memory that a mint takes.
  const lines = new MicroBatch<string>({
    schedule: atEndOfTurn,
    process: (gathered) => {
      destination.write(gathered.join(""));
    },
  });
  const stream = {
    write: (line: string): void => {
      lines.add(line);
    },
    flush: (): void => {
      lines.flush();
      destination.flush();
    },
  };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  setInterval(stream.flush, LOG_FLUSH_MILLIS).unref();
  process.on("exit", () => {
    try {
      lines.flush();
      destination.flushSync();
    } catch {
      // Nobody is left to tell.
    }
  });
  // Node would print the error with all that hangs on it, and on a driver's hang the values of a
  // row.
  process.on("uncaughtException", (error) => {
    logger.fatal({ trace: traceOf(error) }, "a bug: stopping at once");
    process.exit(1);
  });
  return logger;
}
