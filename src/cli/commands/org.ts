import type { Command } from "commander";

import type { Organization } from "../../domain/api-key.js";
import { parseOrganizationId } from "../../domain/values/ids.js";
import type { Keys } from "../../ledger/ports/keys.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { nonEmptyName, wholeNumber } from "./arguments.js";
import { printJson, printLine, printTable, timeOf } from "./output.js";

const CELL_NUMBER_MAX = 999;

/** `kesc org`: creates and lists organizations. */
export function addOrg(program: Command): void {
  const org = program.command("org").description("organizations, whose accounts are kept apart");
  org
    .command("create")
    .description("create an organization")
    .requiredOption("--name <name>", "label of the organization", nonEmptyName)
    .option(
      "--cell <number>",
      "cell that keeps the organization (default: the one with the fewest)",
      wholeNumber({ min: 0, max: CELL_NUMBER_MAX }),
    )
    .option("--json", "print JSON, for scripts")
    .action(createOrganization);
  org
    .command("list")
    .description("list the organizations")
    .option("--json", "print JSON, for scripts")
    .action(listOrganizations);
}

interface CreateOptions {
  readonly name: string;
  readonly cell?: number;
  readonly json?: true;
}

/** Two organizations may have the same name: the id tells them apart. */
async function createOrganization({ name, cell, json }: CreateOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { made, cells } = await withCurrentDatabase(address, async (database) => {
    const count = database.cells.length;
    if (cell !== undefined && cell >= count) throw new OperatorError(noCell(cell, count));
    return { made: await keys(database, now).createOrganization(name, { cell }), cells: count };
  });
  if (json === true) {
    printJson(organizationJson(made));
    return;
  }
  printLine(`Created organization ${made.id} ("${made.name}")${cells > 1 ? ` in cell ${String(made.cell)}` : ""}.`);
  printLine(`A key for its programs: npx kesc key create --org ${made.id} --name NAME`);
}

function noCell(cell: number, count: number): string {
  const has = count === 1 ? "only the cell 0" : `the cells 0 to ${String(count - 1)}`;
  return `There is no cell ${String(cell)}: the database has ${has}. To add cells on PostgreSQL: npx kesc migrate --cells N`;
}

/** Oldest first. */
async function listOrganizations({ json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { found, cells } = await withCurrentDatabase(address, async (database) => ({
    found: await keys(database, now).organizations(),
    cells: database.cells.length,
  }));
  // Without several cells, their numbers say nothing.
  const inCell = (text: string): string[] => (cells > 1 ? [text] : []);
  if (json === true) printJson(found.map(organizationJson));
  else if (found.length === 0) printLine("No organizations yet. Create one: npx kesc org create --name NAME");
  else {
    printTable([
      ["ID", "CREATED", ...inCell("CELL"), "NAME"],
      ...found.map(({ id, cell, name, createdAt }) => [id, timeOf(createdAt), ...inCell(String(cell)), name]),
    ]);
  }
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

function organizationJson({ id, cell, name, createdAt }: Organization): Readonly<Record<string, string | number>> {
  return { id, name, cell, created_at: timeOf(createdAt) };
}
