import pino from "pino";
import { readConfig, type GatewayConfig } from "./config.js";
import { startGateway, type Gateway } from "./start.js";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
// What the operating system may still need after the grace period, before the process goes by force.
const EXIT_MILLISECONDS_MAX = 2_000;

const result = readConfig(process.env);
if (result.ok) await run(result.config);
else {
  for (const problem of result.problems) process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

/** Runs the gateway until it is told to stop. Exits 0 when all requests were finished, else 1. */
async function run(config: GatewayConfig): Promise<void> {
  // Written at once, line by line: there is nothing to flush, however the process ends.
  const destination = pino.destination({ dest: 1, sync: true });
  // A log that can't be written (a full disk, a reader that has gone) costs its lines, not the service.
  destination.on("error", () => undefined);
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);

  let gateway: Gateway;
  try {
    gateway = await startGateway(config, log);
  } catch (error) {
    process.stderr.write(`the gateway cannot start: ${explain(error, config)}\n`);
    process.exitCode = 1;
    return;
  }
  log.info({ address: gateway.address, target: config.target }, "ready");
  process.send?.({ kind: "ready", address: gateway.address });

  let stopping = false;
  const stop = (cause: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ cause }, "stopping");
    setTimeout(() => process.exit(1), config.shutdownGraceSeconds * 1_000 + EXIT_MILLISECONDS_MAX).unref();
    void gateway.stop().then((isClean) => {
      log.info({ clean: isClean }, "stopped");
      process.exit(isClean ? 0 : 1);
    });
  };
  for (const signal of SIGNALS) {
    // Always: a second one must not cut short the stop that the first has begun.
    process.on(signal, () => {
      stop(signal);
    });
  }
  // Whoever started this process as a child is gone.
  process.once("disconnect", () => {
    stop("disconnect");
  });
}

function explain(error: unknown, config: GatewayConfig): string {
  const { host, port } = config.listen;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE") return `${host}:${String(port)} (KESC_HTTP_ADDRESS) is in use already`;
  return error instanceof Error ? error.message : String(error);
}
