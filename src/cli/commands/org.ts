import type { Command } from "commander";

import type { Organization } from "../../domain/api-key.js";
import { parseOrganizationId } from "../../domain/values/ids.js";
import type { Keys } from "../../ledger/ports/keys.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { nonEmptyName } from "./arguments.js";
import { printJson, printLine, printTable, timeOf } from "./output.js";

/** `kesc org`: creates and lists organizations. */
export function addOrg(program: Command): void {
  const org = program.command("org").description("organizations, whose accounts are kept apart");
  org
    .command("create")
    .description("create an organization")
    .requiredOption("--name <name>", "label of the organization", nonEmptyName)
    .option("--json", "print JSON, for scripts")
    .action(createOrganization);
  org
    .command("list")
    .description("list the organizations")
    .option("--json", "print JSON, for scripts")
    .action(listOrganizations);
}

/** Two organizations may have the same name: the id tells them apart. */
async function createOrganization({ name, json }: { name: string; json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const made = await withCurrentDatabase(address, (database) => keys(database, now).createOrganization(name));
  if (json === true) {
    printJson(organizationJson(made));
    return;
  }
  printLine(`Created organization ${made.id} ("${made.name}").`);
  printLine(`A key for its programs: npx kesc key create --org ${made.id} --name NAME`);
}

/** Oldest first. */
async function listOrganizations({ json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const found = await withCurrentDatabase(address, (database) => keys(database, now).organizations());
  if (json === true) printJson(found.map(organizationJson));
  else if (found.length === 0) printLine("No organizations yet. Create one: npx kesc org create --name NAME");
  else printTable([["ID", "CREATED", "NAME"], ...found.map((org) => [org.id, timeOf(org.createdAt), org.name])]);
}

/**
 * Returns the organization with this id, or with this name if only one has it. Throws an
 * OperatorError when there is none.
 */
export async function findOrganization(keys: Keys, idOrName: string): Promise<Organization> {
  const id = parseOrganizationId(idOrName);
  if (id.ok) {
    const organization = await keys.organization(id.value);
    if (organization !== undefined) return organization;
    throw new OperatorError(`There is no organization ${idOrName}. To list the organizations: npx kesc org list`);
  }
  const named = (await keys.organizations()).filter(({ name }) => name === idOrName);
  const [organization, another] = named;
  if (organization === undefined) {
    throw new OperatorError(`There is no organization "${idOrName}". To list the organizations: npx kesc org list`);
  }
  if (another !== undefined) {
    throw new OperatorError(`Several are named "${idOrName}". Give an id: ${named.map((each) => each.id).join(", ")}.`);
  }
  return organization;
}

function organizationJson({ id, name, createdAt }: Organization): Readonly<Record<string, string>> {
  return { id, name, created_at: timeOf(createdAt) };
}
