import type { Logger } from "pino";

import { boundHeapGrowth, collectWhenQuiet } from "../runtime/heap.js";
import { openLog } from "../runtime/log.js";
import { announceReady } from "../runtime/ready.js";
import { exitAfter, shutdownSignal } from "../runtime/shutdown.js";
import { WRONG_VARIABLE_EXIT_CODE } from "../runtime/variables.js";
import { startAdmin } from "./admin.js";
import { type GatewayConfig, readConfig } from "./config.js";
import { type GatewayProgram, GatewayStartError, runGateway } from "./program.js";
import { GatewayThreads } from "./threads.js";

// The operating system may need this long after the grace period, before the process exits by
// force.
const EXIT_MILLIS_MAX = 2_000;

const result = readConfig(process.env);
if (result.ok) await run(result.config);
else {
  for (const problem of result.problems) process.stderr.write(`${problem}\n`);
  process.exitCode = WRONG_VARIABLE_EXIT_CODE;
}

/** Runs the gateway until the shutdown signal. Exits with 0 if all requests were finished. */
async function run(config: GatewayConfig): Promise<void> {
  const stopping = shutdownSignal();
  boundHeapGrowth(config.heapGrowthPercent);
  collectWhenQuiet();
  const log = openLog(config.logLevel);
  const gateway = await start(config, log).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof GatewayStartError && error.isUsage ? WRONG_VARIABLE_EXIT_CODE : 1);
  });
  announceReady(gateway.address);

  const cause = await Promise.race([stopping, gateway.ended]);
  exitAfter(config.shutdownGraceSeconds * 1_000 + EXIT_MILLIS_MAX, log);
  const isClean = await gateway.stop();
  process.exit(isClean && typeof cause === "string" ? 0 : 1);
}

async function start(config: GatewayConfig, log: Logger): Promise<GatewayProgram> {
  const gateway =
    config.processes > 1 ? await GatewayThreads.start(config, { log }) : await runGateway(config, { log });
  await startAdmin(config, gateway, log);
  return gateway;
}
