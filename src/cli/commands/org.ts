import type { Command } from "commander";

import type { Organization } from "../../domain/api-key.js";
import type { StatusReason } from "../../domain/values/text.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { changeSuspension } from "../../storage/organizations/suspension.js";
import { findOwner } from "../organizations.js";
import { nonEmptyName, statusReason, wholeNumber } from "./arguments.js";
import { printJson, printLine, printTable, timeOf } from "./output.js";

const CELL_NUMBER_MAX = 999;
const WRONG_USAGE = 2;

/** `kesc org`: creates, lists, suspends and resumes organizations. */
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
    .option("--sandbox", 'for tests: its keys begin with "kesc_test_"')
    .option("--json", "print JSON, for scripts")
    .action(createOrganization);
  org
    .command("list")
    .description("list the organizations")
    .option("--json", "print JSON, for scripts")
    .action(listOrganizations);
  org
    .command("suspend")
    .description("refuse an organization's calls that write; its calls that read still work")
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal", statusReason)
    .option("--yes", "suspend; without this option the command only says what it would do")
    .action(suspend);
  org
    .command("resume")
    .description("end the suspension of an organization")
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal", statusReason)
    .action(resume);
}

interface CreateOptions {
  readonly name: string;
  readonly cell?: number;
  readonly sandbox?: true;
  readonly json?: true;
}

/** Two organizations may have the same name: the id tells them apart. */
async function createOrganization({ name, cell, sandbox, json }: CreateOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { made, cells } = await withCurrentDatabase(address, async (database) => {
    const count = database.cells.length;
    if (cell !== undefined && cell >= count) throw new OperatorError(noCell(cell, count));
    const given = { cell, isSandbox: sandbox === true };
    return { made: await keys(database, now).createOrganization(name, given), cells: count };
  });
  if (json === true) {
    printJson(organizationJson(made));
    return;
  }
  const kind = made.isSandbox ? "sandbox organization" : "organization";
  printLine(`Created ${kind} ${made.id} ("${made.name}")${cells > 1 ? ` in cell ${String(made.cell)}` : ""}.`);
  printLine(`A key for its programs: ${keyCreation(made.id)}`);
}

/** Returns the command that creates a key of the organization. */
export function keyCreation(org: string): string {
  return `npx kesc key create --org ${org} --name NAME --all-scopes --expires-in 90d`;
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
    printTable(
      [
        ["ID", "STATE", "CREATED", ...inCell("CELL"), "NAME"],
        ...found.map((each) => [
          each.id,
          stateOf(each),
          timeOf(each.createdAt),
          ...inCell(String(each.cell)),
          each.name,
        ]),
      ],
      (text, heading) => (heading === "STATE" && text.includes("suspended") ? "yellow" : undefined),
    );
  }
}

async function suspend(org: string, { reason, yes }: { reason: StatusReason; yes?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization: found, cell } = await findOwner(database, org);
    const named = `${found.id} ("${found.name}")`;
    if (yes !== true) {
      throw new OperatorError(
        `This would refuse each call of ${named} that writes, with ORGANIZATION_SUSPENDED. ` +
          "Calls that read would still work. Nothing was done. To suspend it, add --yes.",
        WRONG_USAGE,
      );
    }
    const isNew = await changeSuspension(cell, { organizationId: found.id, now: now(), isSuspended: true, reason });
    printLine(isNew ? `Suspended ${named}. No server commits its calls any more.` : `${named} was suspended before.`);
  });
}

async function resume(org: string, { reason }: { reason: StatusReason }): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization: found, cell } = await findOwner(database, org);
    const named = `${found.id} ("${found.name}")`;
    const isNew = await changeSuspension(cell, { organizationId: found.id, now: now(), isSuspended: false, reason });
    printLine(isNew ? `Resumed ${named}. Servers commit its calls again.` : `${named} is not suspended.`);
  });
}

function stateOf({ isSandbox, isSuspended }: Organization): string {
  return `${isSandbox ? "sandbox" : "live"}${isSuspended ? ", suspended" : ""}`;
}

function organizationJson(organization: Organization): Readonly<Record<string, string | number | boolean>> {
  const { id, cell, name, isSandbox, isSuspended, createdAt } = organization;
  return { id, name, sandbox: isSandbox, suspended: isSuspended, cell, created_at: timeOf(createdAt) };
}
