import { collectWhenQuiet } from "../runtime/heap.js";
import { flushLog, openLog } from "../runtime/log.js";
import { announceReady } from "../runtime/ready.js";
import { exitAfter, shutdownSignal } from "../runtime/shutdown.js";
import { TlsFileError } from "../runtime/transport/tls.js";
import { WRONG_VARIABLE_EXIT_CODE } from "../runtime/variables.js";
import { type ConsoleConfig, readConfig } from "./config.js";
import { startConsole } from "./server.js";

// The operating system may need this long after the grace period, before the process exits by
// force.
const EXIT_MILLIS_MAX = 2_000;

const result = readConfig(process.env);
if (result.ok) await run(result.config);
else {
  for (const problem of result.problems) process.stderr.write(`${problem}\n`);
  process.exitCode = WRONG_VARIABLE_EXIT_CODE;
}

/** Runs the console until the shutdown signal. Exits with 0 if all requests were finished. */
async function run(config: ConsoleConfig): Promise<void> {
  const stopping = shutdownSignal();
  collectWhenQuiet();
  const log = openLog(config.logLevel);
  const running = await startConsole(config, log).catch((error: unknown) => {
    process.stderr.write(`the console cannot start: ${explain(error, config)}\n`);
    process.exit(error instanceof TlsFileError ? WRONG_VARIABLE_EXIT_CODE : 1);
  });
  log.info({ address: running.address, origin: config.origin, target: config.target }, "ready");
  log.flush();
  announceReady(running.address);

  log.info({ cause: await stopping }, "stopping");
  exitAfter(config.shutdownGraceSeconds * 1_000 + EXIT_MILLIS_MAX, log);
  const isClean = await running.stop();
  log.info({ clean: isClean }, "stopped");
  await flushLog(log);
  process.exit(isClean ? 0 : 1);
}

function explain(error: unknown, { listen: { host, port } }: ConsoleConfig): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE") return `${host}:${String(port)} (KESC_CONSOLE_ADDRESS) is in use already`;
  return error instanceof Error ? error.message : String(error);
}
