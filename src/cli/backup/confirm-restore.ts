import type { Command } from "commander";

import { bookOfProposal } from "../../domain/people/people.js";
import { nameIn } from "../../domain/proposal-content.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { confirmRestore, unconfirmedRestore } from "../../storage/restores.js";
import { printJson, printLine, printLineInTurn, timeOf } from "../commands/output.js";
import { notedHeadsIn, sealEvidence } from "../commands/verify.js";
import { bookJson } from "./book-json.js";
import {
  codeOf,
  type NewerEvidence,
  type RestoredBook,
  type RestoredPowers,
  restoredPowers,
} from "./restored-powers.js";

interface ConfirmRestoreOptions {
  readonly heads?: string;
  readonly published?: string;
  readonly yes?: string;
  readonly json?: true;
}

interface Listed extends RestoredPowers {
  readonly restoredAt: UnixMillis;
  readonly code: string;
  /** Whether this command has confirmed the restore. */
  readonly isConfirmed: boolean;
}

/** `kesc confirm-restore`: lists who acts again after a restore, and lets them act. */
export function addConfirmRestore(program: Command): void {
  program
    .command("confirm-restore")
    .description("list the keys and persons that a restore has brought back, and then let them act")
    .option("--heads <file>", "also say how many rows the backup lacks, by the heads that verify --write-heads noted")
    .option("--published <folder>", "the same by what kesc seal publish wrote, or a copy of it")
    .option("--yes <code>", "let them act; the code is that of the list, and changes with it")
    .option("--json", "print JSON, for scripts")
    .action(run);
}

async function run({ heads, published, yes, json }: ConfirmRestoreOptions): Promise<void> {
  const listed = await onDatabaseForLong(async (database, { seals }): Promise<Listed | undefined> => {
    const restoredAt = await unconfirmedRestore(database);
    if (restoredAt === undefined) return undefined;
    const evidence: NewerEvidence = {
      heads: heads === undefined ? undefined : notedHeadsIn(heads),
      published: sealEvidence(seals, published).published,
    };
    const powers = await restoredPowers(database, { restoredAt, now: now(), evidence });
    const code = codeOf(powers);
    if (yes !== undefined) {
      refuseOtherList(yes, code);
      refuseOpenBooks(powers);
      await confirmRestore(database, now());
    }
    return { ...powers, restoredAt, code, isConfirmed: yes !== undefined };
  });
  if (json === true) printJson(listed === undefined ? null : jsonOf(listed));
  else if (listed === undefined) printLine("No restore waits: keys and persons act.");
  else for (const line of linesOf(listed)) await printLineInTurn(line);
}

function refuseOtherList(given: string, code: string): void {
  if (given === code) return;
  throw new OperatorError(
    "This is not the code of the list as it is now: something was changed since, or has expired. Nothing was done. " +
      "Read the list again: kesc confirm-restore",
  );
}

/** Nobody can activate a book before this command, so an open one was never marked. */
function refuseOpenBooks(powers: RestoredPowers): void {
  const [problem] = openBookLines(powers);
  if (problem !== undefined) throw new OperatorError(`${problem} Nothing was done.`);
}

function openBookLines({ books }: RestoredPowers): readonly string[] {
  const open = books.filter(({ state }) => state === "OPEN");
  if (open.length === 0) return [];
  const which = count(open.length, "book");
  return [
    `${which} would pay out at once: kesc restore --in-place was interrupted. Run it again: kesc restore --in-place --yes`,
  ];
}

/** What a backup cannot know, and the command that does it once more. */
const UNKNOWN = [
  ["API keys that were revoked", "key revoke KEY"],
  ["operators who were revoked", "operator revoke OPERATOR"],
  ["roles that were taken away", "operator set-roles OPERATOR --role ROLES"],
  ["keys of operators that were replaced", "operator replace-key OPERATOR"],
  ["passkeys that were removed", "operator remove-passkey OPERATOR PASSKEY"],
  ["organizations that were suspended", "org suspend ORG"],
  ["accounts that were frozen", "account freeze ACCOUNT"],
  ["limits that were lowered", "limits set"],
  ["payouts that were closed", "rail close RAIL"],
  ["persons who were erased", "account erase ACCOUNT"],
  ["destinations that were removed", undefined],
  ["proposals that were rejected, and wait again", undefined],
] as const;

function linesOf(listed: Listed): readonly string[] {
  const { restoredAt, isConfirmed, code } = listed;
  const counts = countsOf(listed);
  if (isConfirmed) return [`Confirmed: ${counts} act again. Next: kesc book activate ORG --yes (docs/operations.md)`];
  return [
    `The database was restored at ${timeOf(restoredAt)}. No key and no person acts yet.`,
    ...missingLines(listed),
    ...openBookLines(listed),
    "",
    ...powerLines(listed),
    "",
    "The backup does not know what was done after its last row. Do these again, with --on-database --note TEXT:",
    ...UNKNOWN.map(([what, command]) => `  ${what}${command === undefined ? "" : `: kesc ${command}`}`),
    "A server must run for the last two. The restore has ended the sessions, sign-in codes and invitations.",
    "",
    `${counts} would act again. Nothing was done. When this list is right: kesc confirm-restore --yes ${code}`,
  ];
}

function countsOf({ books, operators, proposals }: RestoredPowers): string {
  const keys = books.reduce((sum, { apiKeys }) => sum + apiKeys.length, 0);
  return `${count(operators.length, "operator")}, ${count(keys, "API key")} and ${count(proposals.length, "proposal")}`;
}

function missingLines({ books, operatorRowsMissing: ofOperators, booksMissing }: Listed): readonly string[] {
  const unknown = books.filter(({ rowsMissing }) => rowsMissing === undefined).length;
  return [
    ...books.flatMap(({ organizationId, name, backupSeq, rowsMissing = 0 }) => {
      if (rowsMissing === 0) return [];
      const rows = `at least ${count(rowsMissing, "row")} after seq ${String(backupSeq)}`;
      return [`The backup lacks ${rows} of ${organizationId} ("${name}").`];
    }),
    ...(ofOperators === undefined || ofOperators === 0
      ? []
      : [`The backup lacks at least ${count(ofOperators, "row")} about operators.`]),
    ...booksMissing.map((id) => `The backup lacks the whole book of ${id}.`),
    ...(unknown === 0
      ? []
      : [
          `Nothing shows how many rows ${count(unknown, "book")} lost. Give newer heads or seals: --heads FILE, --published FOLDER`,
        ]),
  ];
}

function powerLines({ books, operators, proposals }: Listed): readonly string[] {
  return [
    "Operators:",
    ...orNone(
      operators.map(({ id, name, roles, keySha256, passkeys, changedAt }) => {
        const means = [...(keySha256 === undefined ? [] : ["a key"]), ...passkeys.map((each) => `passkey ${each.id}`)];
        return `  ${id} ("${name}"): ${roles.join(", ")}; ${means.join(", ") || "no key"}; last changed ${timeOf(changedAt)}`;
      }),
    ),
    "Organizations, each with its API keys:",
    ...orNone(books.flatMap(bookLines)),
    "Proposals that wait:",
    ...orNone(
      proposals.map((proposal) => {
        const { id, content, person, proposedAt } = proposal;
        const owner = bookOfProposal(proposal);
        const of = owner === undefined ? "" : ` of ${owner}`;
        return `  ${id}: ${nameIn(content)}${of}, by ${person} at ${timeOf(proposedAt)}`;
      }),
    ),
  ];
}

function bookLines(book: RestoredBook): readonly string[] {
  const { organizationId, name, state, isSuspended, lastSeq, lastRecordedAt, payoutRails, apiKeys } = book;
  const payouts = payoutRails.length === 0 ? "no payouts" : `payouts over ${payoutRails.join(", ")}`;
  const last = `last row seq ${String(lastSeq)} of ${timeOf(lastRecordedAt)}`;
  return [
    `  ${organizationId} ("${name}"): ${state}, ${isSuspended ? "suspended" : "not suspended"}, ${payouts}; ${last}`,
    ...apiKeys.map(({ id, name: label, scopes, createdAt, expiresAt }) => {
      const until = expiresAt === undefined ? "never expires" : `until ${timeOf(expiresAt)}`;
      return `    ${id} ("${label}"): ${scopes.join(", ")}; created ${timeOf(createdAt)}, ${until}`;
    }),
  ];
}

function orNone(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? ["  none"] : lines;
}

function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function jsonOf(listed: Listed): Readonly<Record<string, unknown>> {
  const { restoredAt, isConfirmed, code, books, operators, proposals, operatorRowsMissing, booksMissing } = listed;
  return {
    restored_at: timeOf(restoredAt),
    confirmed: isConfirmed,
    code,
    books: books.map((book) => ({
      ...bookJson(book),
      rows_missing: book.rowsMissing ?? null,
      payout_rails: book.payoutRails,
      api_keys: book.apiKeys.map(({ id, name, scopes, createdAt, expiresAt }) => {
        return { id, name, scopes, created_at: timeOf(createdAt), expires_at: timeOf(expiresAt) };
      }),
    })),
    operators: operators.map(({ id, name, roles, keySha256, passkeys, changedAt }) => ({
      id,
      name,
      roles,
      key_sha256: keySha256 ?? null,
      passkeys: passkeys.map((passkey) => passkey.id),
      changed_at: timeOf(changedAt),
    })),
    proposals: proposals.map((proposal) => ({
      id: proposal.id,
      type: nameIn(proposal.content),
      organization_id: bookOfProposal(proposal) ?? null,
      proposed_by: proposal.person,
      proposed_at: timeOf(proposal.proposedAt),
    })),
    operator_rows_missing: operatorRowsMissing ?? null,
    books_missing: booksMissing,
  };
}
