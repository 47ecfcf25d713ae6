import type { Command } from "commander";

import { now } from "../startup/clock.js";
import { onDatabase } from "../startup/open-database.js";
import { IDEMPOTENCY_KEY_DAYS, purgeIdempotencyKeys } from "../storage/idempotency-keys.js";
import { printJson, printLine } from "./commands/output.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "./metrics-file.js";

/** `kesc purge`: removes idempotency keys that guard no longer. Servers may run meanwhile. */
export function addPurge(program: Command): void {
  program
    .command("purge")
    .description(`remove idempotency keys that are older than ${String(IDEMPOTENCY_KEY_DAYS)} days; run it daily`)
    .option(...METRICS_FILE)
    .option("--json", "print JSON, for scripts")
    .action(async ({ json, metricsFile }: { json?: true; metricsFile?: string }) => {
      const purged = await onDatabase((database) => purgeIdempotencyKeys(database, { now: now() }));
      if (metricsFile !== undefined) writeMetricsFile(metricsFile, jobMetrics("purge", now()));
      if (json === true) printJson({ idempotency_keys: purged });
      else printLine(`Removed ${purged.toLocaleString("en")} idempotency keys.`);
    });
}
