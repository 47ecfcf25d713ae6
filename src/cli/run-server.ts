import type { Logger } from "pino";

import { announceReady } from "../../runtime/child.js";
import { traceOf } from "../../runtime/error-trace.js";
import { flushLog, openLog } from "../../runtime/log.js";
import { exitAfter, type ShutdownCause } from "../../runtime/shutdown.js";
import { openTracing, type Tracing, TracingError } from "../../runtime/tracing/tracing.js";
import { type RunningServer, startServer } from "../server.js";
import type { Config } from "../startup/config.js";
import { invocation } from "../startup/invocation.js";
import { UsageError } from "../startup/operator-error.js";
import { isYoungGenerationSet, YOUNG_GENERATION_ADVICE } from "./young-generation.js";

/**
 * Runs the server until `stopping` resolves. Returns the exit code: 0 if every call in flight was
 * answered. Exits with 1 by force when stopping takes longer than the grace period.
 *
 * Throws an OperatorError when the server cannot start.
 */
export async function runServer(config: Config, stopping: Promise<ShutdownCause>): Promise<0 | 1> {
  const logger = openLog(config.logLevel);
  const tracing = await tracingOf(logger);
  const server = await startServer(config, { logger, tracing });
  if (!isYoungGenerationSet()) logger.warn(YOUNG_GENERATION_ADVICE);
  const { address, adminAddress: admin, operatorAddress: operators } = server;
  logger.info({ address, admin, operators, database: config.database.engine, ...expiryOf(server) }, "ready");
  // An operator who waits for this line need not wait for the next flush.
  logger.flush();
  announceReady(server.address);

  logger.info({ cause: await stopping }, "stopping");
  exitAfter(config.shutdownGraceSeconds * 1_000, logger);
  const exitCode = await stop(server, logger);
  await tracing?.stop();
  await flushLog(logger);
  return exitCode;
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
