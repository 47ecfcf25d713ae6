import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { keys } from "../../storage/keys.js";
import { organizationJson } from "./organizations.js";
import { printJson, printLine, printTable, timeOf } from "./output.js";

/** `kesc org list`: lists the organizations, oldest first. */
export function addOrgList(org: Command): void {
  org
    .command("list")
    .description("list the organizations")
    .option("--json", "print JSON, for scripts")
    .action(async ({ json }: { json?: true }) => {
      const { database: address } = configFromEnvironment();
      const found = await withCurrentDatabase(address, (database) => keys(database, now).organizations());
      if (json === true) printJson(found.map(organizationJson));
      else if (found.length === 0) printLine("No organizations yet. Create one: npx kesc org create --name NAME");
      else printTable([["ID", "CREATED", "NAME"], ...found.map((org) => [org.id, timeOf(org.createdAt), org.name])]);
    });
}
