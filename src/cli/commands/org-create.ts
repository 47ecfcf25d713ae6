import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { keys } from "../../storage/keys.js";
import { nonEmptyName } from "./arguments.js";
import { organizationJson } from "./organizations.js";
import { printJson, printLine } from "./output.js";

/**
 * `kesc org create`: creates an organization. Two organizations may have the same name; their ids
 * differ.
 */
export function addOrgCreate(org: Command): void {
  org
    .command("create")
    .description("create an organization")
    .requiredOption("--name <name>", "label of the organization", nonEmptyName)
    .option("--json", "print JSON, for scripts")
    .action(async ({ name, json }: { name: string; json?: true }) => {
      const { database: address } = configFromEnvironment();
      const made = await withCurrentDatabase(address, (database) => keys(database, now).createOrganization(name));
      if (json === true) {
        printJson(organizationJson(made));
        return;
      }
      printLine(`Created organization ${made.id} ("${made.name}").`);
      printLine(`To create an API key for it: npx kesc key create --org ${made.id} --name NAME`);
    });
}
