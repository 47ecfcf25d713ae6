import type { Command } from "commander";

import type { Organization } from "../../domain/api-key.js";
import type { StatusReason } from "../../domain/values/text.js";
import { OperatorError } from "../../startup/operator-error.js";
import { nonEmptyName, statusReason, wholeNumber } from "../commands/arguments.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { findOrganization, keyCreation } from "../organizations.js";
import { type ServerOptions, withAdministration, withServerOption } from "./open.js";
import { byWords, doneOrProposed } from "./words.js";

const CELL_NUMBER_MAX = 999;
const ACTS_MAX = 10_000;
const WRONG_USAGE = 2;

/** `kesc org`: creates, lists, suspends and resumes organizations. */
export function addOrg(program: Command): void {
  const org = program.command("org").description("organizations, whose accounts are kept apart");
  withServerOption(org.command("create"))
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
  withServerOption(org.command("list"))
    .description("list the organizations")
    .option("--json", "print JSON, for scripts")
    .action(listOrganizations);
  withServerOption(org.command("suspend"))
    .description("refuse an organization's calls that write; its calls that read still work")
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal", statusReason)
    .option("--yes", "suspend; without this option the command only says what it would do")
    .action(suspend);
  withServerOption(org.command("resume"))
    .description("end the suspension of an organization")
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal", statusReason)
    .action(resume);
  withServerOption(org.command("acts"))
    .description("list what was done to an organization, and by whom; newest first")
    .argument("<organization>", "id or name of the organization")
    .option("--limit <count>", "the most that are listed", wholeNumber({ min: 1, max: ACTS_MAX }), 100)
    .option("--json", "print JSON, for scripts")
    .action(listActs);
}

interface ListOrganizationsOptions extends ServerOptions {
  readonly json?: true;
}

interface CreateOrganizationOptions extends ListOrganizationsOptions {
  readonly name: string;
  readonly cell?: number;
  readonly sandbox?: true;
}

/** Two organizations may have the same name in the database: the id tells them apart. */
async function createOrganization({ name, cell, sandbox, json, ...options }: CreateOrganizationOptions): Promise<void> {
  const { made, cells } = await withAdministration(options, async (administration) => {
    const count = await administration.cellCount();
    if (cell !== undefined && cell >= count) throw new OperatorError(noCell(cell, count));
    const isSandbox = sandbox === true;
    const act = { kind: "organization.create", name, isSandbox, cell, mayRepeatName: true } as const;
    return { made: doneOrProposed(await administration.submit(act)), cells: count };
  });
  if (made === undefined) return;
  const organization = made.resource;
  if (json === true) {
    printJson(organizationJson(organization));
    return;
  }
  const { id, isSandbox, cell: home } = organization;
  const kind = isSandbox ? "sandbox organization" : "organization";
  printLine(`Created ${kind} ${id} ("${organization.name}")${cells > 1 ? ` in cell ${String(home)}` : ""}.`);
  printLine(`A key for its programs: ${keyCreation(id)}`);
}

function noCell(cell: number, count: number): string {
  const has = count === 1 ? "only the cell 0" : `the cells 0 to ${String(count - 1)}`;
  return `There is no cell ${String(cell)}: the database has ${has}. To add cells on PostgreSQL: kesc migrate --cells N`;
}

/** Oldest first. */
async function listOrganizations({ json, ...options }: ListOrganizationsOptions): Promise<void> {
  const { found, cells } = await withAdministration(options, async (administration) => ({
    found: await administration.organizations(),
    cells: await administration.cellCount(),
  }));
  // Without several cells, their numbers say nothing.
  const inCell = (text: string): string[] => (cells > 1 ? [text] : []);
  if (json === true) printJson(found.map(organizationJson));
  else if (found.length === 0) printLine("No organizations yet. Create one: kesc org create --name NAME");
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

interface SuspendOptions extends ServerOptions {
  readonly reason: StatusReason;
  readonly yes?: true;
}

async function suspend(org: string, { reason, yes, ...options }: SuspendOptions): Promise<void> {
  await withAdministration(options, async (administration) => {
    const found = await findOrganization(administration, org);
    const named = `${found.id} ("${found.name}")`;
    if (yes !== true) {
      throw new OperatorError(
        `This would refuse each call of ${named} that writes, with ORGANIZATION_SUSPENDED. ` +
          "Calls that read would still work. Nothing was done. To suspend it, add --yes.",
        WRONG_USAGE,
      );
    }
    const act = { kind: "organization.suspend", organizationId: found.id, reason } as const;
    const done = doneOrProposed(await administration.submit(act));
    if (done === undefined) return;
    printLine(
      done.isNew ? `Suspended ${named}. No server commits its calls any more.` : `${named} was suspended before.`,
    );
  });
}

async function resume(org: string, { reason, ...options }: SuspendOptions): Promise<void> {
  await withAdministration(options, async (administration) => {
    const found = await findOrganization(administration, org);
    const named = `${found.id} ("${found.name}")`;
    const act = { kind: "organization.resume", organizationId: found.id, reason } as const;
    const done = doneOrProposed(await administration.submit(act));
    if (done === undefined) return;
    printLine(done.isNew ? `Resumed ${named}. Servers commit its calls again.` : `${named} is not suspended.`);
  });
}

interface ActsOptions extends ListOrganizationsOptions {
  readonly limit: number;
}

/** Newest first. */
async function listActs(org: string, { limit, json, ...options }: ActsOptions): Promise<void> {
  const acts = await withAdministration(options, async (administration) =>
    administration.ownActs(await findOrganization(administration, org), limit),
  );
  if (json === true) {
    printJson(
      acts.map(({ seq, kind, actor, actorNames, reason, keyId, recordedAt }) => ({
        sequence: seq,
        type: kind,
        actor,
        operator_names: actorNames,
        note: reason === "" ? null : reason,
        api_key_id: keyId ?? null,
        recorded_at: timeOf(recordedAt),
      })),
    );
    return;
  }
  printTable([
    ["SEQUENCE", "RECORDED", "TYPE", "BY", "KEY", "NOTE"],
    ...acts.map((act) => [
      String(act.seq),
      timeOf(act.recordedAt),
      act.kind,
      byWords(act),
      act.keyId ?? "",
      act.reason,
    ]),
  ]);
}

function stateOf({ isSandbox, isSuspended }: Organization): string {
  return `${isSandbox ? "sandbox" : "live"}${isSuspended ? ", suspended" : ""}`;
}

function organizationJson(organization: Organization): Readonly<Record<string, string | number | boolean>> {
  const { id, cell, name, isSandbox, isSuspended, createdAt } = organization;
  return { id, name, sandbox: isSandbox, suspended: isSuspended, cell, created_at: timeOf(createdAt) };
}
