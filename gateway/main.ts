import cluster from "node:cluster";

import pino, { type Logger } from "pino";

import { runProcesses } from "./cluster.js";
import { type GatewayConfig, readConfig } from "./config.js";
import { type Gateway, startGateway } from "./server.js";
import { toldToStop } from "./told-to-stop.js";

// What the operating system may still need after the grace period, before the process goes by
// force.
const EXIT_MILLIS_MAX = 2_000;
const LOG_BUFFER_BYTES = 4_096;
const LOG_FLUSH_MILLIS = 1_000;

const result = readConfig(process.env);
if (!result.ok) {
  for (const problem of result.problems) process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else if (cluster.isPrimary && result.config.processes > 1) {
  process.exit(await runProcesses(result.config));
} else {
  await run(result.config);
}

/** Runs the gateway until it is told to stop. Exits 0 when all requests were finished, else 1. */
async function run(config: GatewayConfig): Promise<void> {
  const told = toldToStop();
  // Node would end a worker at once when the process that started it is gone, whatever it is doing.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  const log = openLog(config.logLevel);

  let gateway: Gateway;
  try {
    gateway = await startGateway(config, log);
  } catch (error) {
    process.stderr.write(`the gateway cannot start: ${explain(error, config)}\n`);
    process.exit(1);
  }
  log.info({ address: gateway.address, target: config.target }, "ready");
  // Whoever waits for this line should not have to wait for the next flush.
  log.flush();
  process.send?.({ kind: "ready", address: gateway.address });

  log.info({ cause: await told }, "stopping");
  setTimeout(() => process.exit(1), config.shutdownGraceSeconds * 1_000 + EXIT_MILLIS_MAX).unref();
  const isClean = await gateway.stop();
  log.info({ clean: isClean }, "stopped");
  process.exit(isClean ? 0 : 1);
}

/**
 * Opens the log on standard output. Lines wait a second at most: writing each would cost a
 * thirtieth of a request.
 */
function openLog(level: GatewayConfig["logLevel"]): Logger {
  const destination = pino.destination({
    dest: 1,
    sync: true,
    minLength: LOG_BUFFER_BYTES,
    periodicFlush: LOG_FLUSH_MILLIS,
  });
  // A log that can't be written (a full disk, a reader that has gone) costs its lines, not the
  // service.
  destination.on("error", () => undefined);
  process.on("exit", () => {
    try {
      destination.flushSync();
    } catch {
      // Nobody is left to tell.
    }
  });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

function explain(error: unknown, config: GatewayConfig): string {
  const { host, port } = config.listen;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE") return `${host}:${String(port)} (KESC_HTTP_ADDRESS) is in use already`;
  return error instanceof Error ? error.message : String(error);
}
