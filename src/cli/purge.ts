import type { Command } from "commander";

import { now } from "../startup/clock.js";
import { configFromEnvironment } from "../startup/environment.js";
import { withCurrentDatabase } from "../startup/open-database.js";
import { IDEMPOTENCY_KEY_DAYS, purgeIdempotencyKeys } from "../storage/idempotency-keys.js";
import { printJson, printLine } from "./commands/output.js";

/** `kesc purge`: removes idempotency keys that guard no longer. Servers may run meanwhile. */
export function addPurge(program: Command): void {
  program
    .command("purge")
    .description(`remove idempotency keys that are older than ${String(IDEMPOTENCY_KEY_DAYS)} days; run it daily`)
    .option("--json", "print JSON, for scripts")
    .action(async ({ json }: { json?: true }) => {
      const { database: address } = configFromEnvironment();
      const purged = await withCurrentDatabase(address, (database) => purgeIdempotencyKeys(database, { now: now() }));
      if (json === true) printJson({ idempotency_keys: purged });
      else printLine(`Removed ${purged.toLocaleString("en")} idempotency keys.`);
    });
}
