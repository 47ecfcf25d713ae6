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
// The share of the grace period for finishing calls. The remaining time is for closing the ledger
// and the database.
const DRAIN_SHARE = 0.9;

export interface RunOptions {
  /**
   * Ignores signals. The parent process gets them, too, and stops the processes in the right order.
   */
  readonly supervised: boolean;
}

/**
 * Runs the server until a shutdown signal: SIGTERM, SIGINT, a message {kind: "stop"} from the
 * parent process, or the end of the parent process. Returns the exit code, which is 0 if all calls
 * in flight were finished. Exits with 1 if the shutdown takes longer than the grace period.
 *
 * Throws a Problem if the server cannot start: the database cannot be opened, its schema is old, or
 * the address is in use.
 */
export async function runServer(config: Config, options: RunOptions): Promise<0 | 1> {
  // Listens before anything else, because the signal may come early.
  const told = toldToStop(options);
  const logger = openLog(config.logLevel);
  const database = await openCurrentDatabase(config.database);
  const ledger = openLedger(config, database, logger);
  const server = await startServer(config, { database, ledger, logger }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });

  logger.info({ address: server.address, database: database.engine.name }, "ready");
  // Flushes at once, so that a process that waits for this line sees it.
  logger.flush();
  process.send?.({ kind: "ready", address: server.address });

  const cause = await told;
  logger.info({ cause }, "stopping");
  setTimeout(() => {
    logger.error("the grace period is over: exiting by force");
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
    const what = reason.includes("EADDRINUSE") ? "the address is in use already" : "the address is not available";
    const advice = "Stop the process that uses it, or set KESC_GRPC_ADDRESS to another address";
    throw new Problem(`gRPC cannot listen on ${address}: ${what}. ${advice}.`, 1, { cause: error });
  }
}

/** Resolves with the name of the first shutdown signal. */
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

/** Finishes all calls in flight, then closes the database. Returns the exit code. */
async function stop({ server, ledger, database, logger }: Running, config: Config): Promise<0 | 1> {
  try {
    await server.stop(config.shutdownGraceSeconds * 1_000 * DRAIN_SHARE);
    await ledger.close();
    await database.close();
    logger.info("stopped");
    return 0;
  } catch (error) {
    logger.error({ trace: traceOf(error) }, "the shutdown failed");
    return 1;
  }
}

/**
 * Opens the log on standard output. A line waits up to one second, because a write for each line
 * would cost as much as a call.
 */
function openLog(level: LogLevel): Logger {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: LOG_BUFFER_BYTES,
    maxLength: LOG_WAITING_BYTES_MAX,
  });
  // If the log cannot be written, its lines are lost, but the service continues. The disk may be
  // full, or the reader of a pipe may have exited.
  destination.on("error", () => undefined);
  // Writes all lines of one turn at once. The destination copies its whole buffer on each write: a
  // seventh less memory is allocated for each mint (docs/performance.md).
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
      // The log itself failed, so the error cannot be reported.
    }
  });
  // Node would print the error with all its fields. Those of a database driver hold values of a
  // row.
  process.on("uncaughtException", (error) => {
    logger.fatal({ trace: traceOf(error) }, "uncaught exception: exiting");
    process.exit(1);
  });
  return logger;
}
