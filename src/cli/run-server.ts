import { setTimeout as sleep } from "node:timers/promises";

import type { Logger } from "pino";

import { traceOf } from "../../runtime/error-trace.js";
import { boundHeapGrowth, collectWhenQuiet } from "../../runtime/heap.js";
import { flushLog, openLog } from "../../runtime/log.js";
import { announceReady } from "../../runtime/ready.js";
import { exitAfter, type ShutdownCause } from "../../runtime/shutdown.js";
import { openTracing, type Tracing, TracingError } from "../../runtime/tracing/tracing.js";
import { type RunningServer, startServer } from "../server.js";
import type { Config } from "../startup/config.js";
import { invocation } from "../startup/invocation.js";
import { OperatorError, UsageError } from "../startup/operator-error.js";
import { isYoungGenerationSet, YOUNG_GENERATION_ADVICE } from "./young-generation.js";

/** The programs that call the server from its own process. */
export interface Front {
  /** Resolves with a sentence if one of them ends by itself. */
  readonly ended: Promise<string>;
  /** Finishes the requests in flight. Returns whether all were finished. */
  stop(): Promise<boolean>;
}

/** Starts the front, and says that the process is ready. */
export type StartFront = (server: RunningServer, logger: Logger) => Front | Promise<Front>;

/** Of a server alone. */
const startNoFront: StartFront = ({ address }) => {
  announceReady(address);
  return { ended: new Promise(() => undefined), stop: () => Promise.resolve(true) };
};

/**
 * Runs the server until `stopping` resolves. Stops the front first, and then the server, which
 * finishes the calls of the front. Returns the exit code: 0 if every call in flight was answered.
 * Exits with 1 by force when stopping takes longer than the grace period.
 *
 * Throws an OperatorError when the server cannot start, or when the front ends by itself. Rejects
 * as `startFront` does. Nothing runs then.
 */
export async function runServer(
  config: Config,
  stopping: Promise<ShutdownCause>,
  startFront: StartFront = startNoFront,
): Promise<0 | 1> {
  boundHeapGrowth(config.heapGrowthPercent);
  collectWhenQuiet();
  const graceMillis = config.shutdownGraceSeconds * 1_000;
  const logger = openLog(config.logLevel);
  const tracing = await tracingOf(logger);
  const server = await startServer(config, { logger, tracing });
  const end = async (): Promise<0 | 1> => {
    const exitCode = await stop(server, logger);
    await tracing?.stop();
    await flushLog(logger);
    return exitCode;
  };
  if (!isYoungGenerationSet()) logger.warn(YOUNG_GENERATION_ADVICE);
  const { address, adminAddress: admin, operatorAddress: operators } = server;
  logger.info({ address, admin, operators, database: config.database.engine, ...expiryOf(server) }, "ready");
  // An operator who waits for this line need not wait for the next flush.
  logger.flush();
  let front: Front;
  try {
    front = await startFront(server, logger);
  } catch (error) {
    await end();
    throw error;
  }

  const ended = await Promise.race([stopping.then(() => undefined), front.ended]);
  logger.info({ cause: ended ?? (await stopping) }, "stopping");
  exitAfter(graceMillis, logger);
  const frontStopping = front.stop();
  // A front that takes long leaves the server its share of the time.
  await Promise.race([frontStopping, sleep(graceMillis / 2, undefined, { ref: false })]);
  const exitCode = await end();
  const isClean = await frontStopping;
  if (ended !== undefined) throw new OperatorError(ended);
  return isClean ? exitCode : 1;
}

async function tracingOf(logger: Logger): Promise<Tracing | undefined> {
  try {
    return await openTracing(invocation().env, "kesc-server", (problem) => {
      logger.warn({ problem }, "spans were not exported");
    });
  } catch (error) {
    if (!(error instanceof TracingError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

async function stop(server: RunningServer, logger: Logger): Promise<0 | 1> {
  try {
    await server.stop();
    logger.info("stopped");
    return 0;
  } catch (error) {
    logger.error({ trace: traceOf(error) }, "did not stop cleanly");
    return 1;
  }
}

function expiryOf(server: RunningServer): { readonly tls_not_after?: string } {
  const notAfter = server.certificateNotAfter();
  return notAfter === undefined ? {} : { tls_not_after: new Date(notAfter).toISOString() };
}
