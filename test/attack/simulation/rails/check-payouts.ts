import type { JournalEntry, JournalKind } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Stored } from "../disks/disk.js";
import { mustBe, mustHold } from "../report/violation.js";
import type { ListedPayouts } from "./list-keeper.js";
import type { ReadFile } from "./payout-team.js";
import type { RailWorld } from "./rail-world.js";

const REFUSED = "REFUSED_BY_OPERATOR";

/** What moved for an order, by the truth. */
export type MovedFor = (transactionId: Transaction["id"]) => readonly { readonly cents: number }[];

/** The amounts beyond which a person must release a redemption. */
export interface HoldRules {
  readonly HELD_AMOUNT?: number;
  readonly HELD_NEW_DESTINATION?: number;
}

/** The entries of each list of payouts that are held, by its hash. */
type Lists = ReadonlyMap<unknown, readonly ListedPayouts[]>;

interface Checked {
  readonly world: RailWorld;
  readonly organizationId: OrganizationId;
  readonly movedFor: MovedFor;
  readonly journal: readonly Stored<JournalEntry>[];
  readonly transactions: readonly Transaction[];
}

/**
 * Checks files of payouts, held payouts and payment files of one organization, by its journal and
 * by what moved. It takes no rule of the service.
 */
export function checkPayouts(
  world: RailWorld,
  organizationId: OrganizationId,
  given: {
    readonly files: readonly ReadFile[];
    readonly rules: HoldRules;
    /** Whether a service is asked before a payout leaves. */
    readonly isChecked: boolean;
    readonly lists: Lists;
    readonly movedFor: MovedFor;
  },
): void {
  const transactions = [...world.disk.transactions.values()].filter((each) => each.organizationId === organizationId);
  const journal = world.disk.journalAfter(organizationId, 0);
  const checked: Checked = { world, organizationId, movedFor: given.movedFor, journal, transactions };
  for (const file of given.files) checkFile(checked, file);
  checkHeld(checked, given);
  checkLists(checked, given.lists);
  checkBankFiles(checked);
}

/** Each row of a file is paid once, or failed, or refused: at last none is open. */
function checkFile(checked: Checked, { sha256, rowsSha256, rows }: ReadFile): void {
  const { world, journal, transactions, movedFor } = checked;
  const approvals = journal.filter((row) => row.kind === "payouts.approved" && partsIn(row)[0] === sha256);
  mustHold(approvals.length <= 1, () => wrong(`the approvals of the file ${sha256}`, "one at most", approvals));
  const [approval] = approvals;
  const own = transactions.filter(({ metadata }) => metadata.get("payout_file") === sha256);
  if (approval === undefined) {
    mustBe(`the redemptions of the file ${sha256}, which nobody has approved`, [], own);
    return;
  }
  mustBeOfTwo(approval);
  if (partsIn(approval)[1] !== rowsSha256) return;
  const [stop] = journal.filter((row) => row.kind === "payouts.stopped" && partsIn(row)[0] === sha256);
  const refused = world.payoutFiles.refusedIn({ rowsSha256 });
  mustHold(refused !== undefined, () => wrong(`the rows of ${sha256} in the end`, "all decided", refused));
  for (const { line, accountId, amountCents, destinationId } of rows) {
    const made = own.filter(({ metadata }) => metadata.get("payout_row") === String(line));
    mustHold(made.length <= 1, () => wrong(`the redemptions of line ${String(line)} of ${sha256}`, "one", made));
    const [transaction] = made;
    const isRefused = refused?.some((each) => each.line === line) === true;
    mustHold(transaction !== undefined || isRefused, () => wrong(`line ${String(line)} of ${sha256}`, "decided", made));
    world.tally.count("payouts", `rows: ${transaction?.status ?? "refused"}`);
    if (transaction === undefined) continue;
    mustBe(
      `what line ${String(line)} of ${sha256} redeems`,
      { accountId, amountCents, destinationId },
      {
        accountId: transaction.accountId,
        amountCents: transaction.amountCents,
        destinationId: transaction.destinationId,
      },
    );
    const begin = rowsOf(checked, transaction, "transaction.pending")[0]?.seq ?? 0;
    mustHold(begin > approval.seq && begin < (stop?.seq ?? Infinity), () =>
      wrong(`the row that began ${transaction.id}`, "after the approval and before the stop", begin),
    );
    const moved = movedFor(transaction.id);
    mustHold(moved.length <= 1, () => wrong(`how often line ${String(line)} of ${sha256} was paid`, "once", moved));
  }
  mustBe(
    `the redemptions of ${sha256} that are of no row`,
    [],
    own.filter(({ metadata }) => rows.every(({ line }) => String(line) !== metadata.get("payout_row"))),
  );
}

/** A held payout is released once at most, by somebody who did not ask for it. */
function checkHeld(
  checked: Checked,
  given: { files: readonly ReadFile[]; rules: HoldRules; isChecked: boolean; lists: Lists },
): void {
  const { files, rules, isChecked, lists } = given;
  const { journal, transactions, world } = checked;
  for (const transaction of transactions) {
    if (transaction.type !== "REDEEM" || transaction.rail === "direct" || transaction.corrects !== undefined) continue;
    const released = rowsOf(checked, transaction, "transaction.released");
    mustHold(released.length <= 1, () => wrong(`the releases of ${transaction.id}`, "one at most", released));
    const file = transaction.metadata.get("payout_file");
    const asked = journal.find((row) => row.kind === "payouts.approved" && partsIn(row)[0] === file);
    const asker = asked?.actor.split(",")[0];
    const proposers = files.flatMap(({ sha256, proposer }) => (sha256 === file ? [proposer] : []));
    mustHold(asker === undefined || proposers.includes(asker), () =>
      wrong(`who asked for ${String(file)}`, proposers, asker),
    );
    for (const { actor } of released) {
      const isAsker = actor.split(",").includes(asker ?? "nobody");
      mustHold(!isAsker, () => wrong(`who released ${transaction.id}`, "not who asked for it", actor));
    }
    checkPersons(checked, transaction);
    const [held] = rowsOf(checked, transaction, "transaction.held");
    const reasons = held?.detail?.split(",") ?? [];
    const { id, amountCents } = transaction;
    mustBe(`whether ${id} waited for the check`, isChecked, reasons.includes("CHECK"));
    const answers = rowsOf(checked, transaction, "transaction.checked");
    mustHold(answers.length <= 1, () => wrong(`the answers of the check about ${id}`, "one at most", answers));
    // The answer, and what it came to.
    const isDenied = answers[0]?.detail?.split(" ")[1] === "DENY";
    mustHold(!isDenied || transaction.failure === "CHECK_DENIED", () =>
      wrong(`the end of ${id}, which the check has denied`, "CHECK_DENIED", transaction.failure),
    );
    mustBe(
      `whether ${id} was held for its amount`,
      amountCents > (rules.HELD_AMOUNT ?? Infinity),
      reasons.includes("AMOUNT"),
    );
    const isNew = isFirstTo(checked, transaction) && amountCents > (rules.HELD_NEW_DESTINATION ?? Infinity);
    mustBe(`whether ${id} was held for its number`, isNew, reasons.includes("NEW_DESTINATION"));
    const isListed = standingList(checked, transaction, lists).some(({ holds }) => holds(transaction));
    mustBe(`whether ${id} was held by the list`, isListed, reasons.includes("LISTED"));
    if (isListed) world.tally.count("lists", `held: ${transaction.status}`);
  }
}

/** Two persons release or refuse what the check or the list holds. The check decides for itself. */
function checkPersons(checked: Checked, transaction: Transaction): void {
  const held = rowsOf(checked, transaction, "transaction.held");
  const refused = rowsOf(checked, transaction, "transaction.failed").filter(({ detail }) => detail === REFUSED);
  for (const row of [...rowsOf(checked, transaction, "transaction.released"), ...refused]) {
    const reasons = held.findLast(({ seq }) => seq < row.seq)?.detail ?? "";
    if (row.actor === "checks") mustBe(`what the check has released of ${transaction.id}`, "CHECK", reasons);
    else if (/CHECK|LISTED/.test(reasons)) mustBeOfTwo(row);
  }
}

/** Returns the entries of the list that stood when the redemption was accepted. */
function standingList(checked: Checked, transaction: Transaction, lists: Lists): readonly ListedPayouts[] {
  const begin = rowsOf(checked, transaction, "transaction.pending")[0]?.seq ?? 0;
  const list = checked.journal.findLast(({ kind, seq }) => kind === "payouts.list_set" && seq < begin);
  return list === undefined ? [] : (lists.get(partsIn(list)[0]) ?? []);
}

/** A list without some entries of the former one is of two persons. Each is set once in a row. */
function checkLists({ journal }: Checked, lists: Lists): void {
  let [hash, before]: readonly [unknown, readonly ListedPayouts[]] = ["", []];
  for (const row of journal.filter(({ kind }) => kind === "payouts.list_set")) {
    const [next] = partsIn(row);
    const entries = lists.get(next);
    mustHold(entries !== undefined && next !== hash, () =>
      wrong(`the list of row ${String(row.seq)}`, "another", next),
    );
    if (before.some((entry) => entries?.includes(entry) !== true)) mustBeOfTwo(row);
    [hash, before] = [next, entries ?? []];
  }
}

/** Whether nothing was paid to the number when the redemption was accepted. */
function isFirstTo(checked: Checked, { id, accountId, destinationId }: Transaction): boolean {
  const begin = checked.journal.findIndex((row) => row.transactionId === id && row.kind === "transaction.pending");
  const others = checked.transactions.filter((other) => {
    return other.type === "REDEEM" && other.accountId === accountId && other.destinationId === destinationId;
  });
  return !checked.journal.slice(0, begin).some(({ kind, transactionId }) => {
    return (
      kind === "transaction.completed" && others.some((other) => other.id === transactionId && other.rail !== "direct")
    );
  });
}

/** A payment is in one payment file at most, and a file is what two persons have approved. */
function checkBankFiles(checked: Checked): void {
  const { world, journal, transactions, organizationId } = checked;
  const approved = journal.filter(({ kind }) => kind === "bank_file.approved");
  const ids = approved.map((row) => partsIn(row)[0]);
  mustBe(`the payment files of ${organizationId}`, ids.length, new Set(ids).size);
  for (const row of approved) {
    mustBeOfTwo(row);
    const [id, , , count, cents] = partsIn(row);
    const inFile = world.payments.all().filter(({ railReference }) => String(railReference) === id);
    const sum = inFile.reduce((total, { amountCents }) => total + amountCents, 0);
    mustBe(`the payments of the file ${String(id)}`, [count, cents], [inFile.length, sum]);
    const lost = journal.filter((each) => each.kind === "bank_file.lost" && partsIn(each)[0] === id);
    mustHold(lost.length <= 1, () => wrong(`how often ${String(id)} is lost`, "once", lost));
    if (lost[0] !== undefined) mustBeOfTwo(lost[0]);
    const late = journal.filter((each) => {
      return each.kind === "bank_file.downloaded" && partsIn(each)[0] === id && each.seq > (lost[0]?.seq ?? Infinity);
    });
    mustBe(`the downloads of ${String(id)} after it was lost`, [], late);
    world.tally.count("bank", lost.length > 0 ? "files checked, lost" : "files checked");
  }
  for (const transaction of transactions) {
    if (transaction.rail !== "bank" || transaction.corrects !== undefined) continue;
    const begun = rowsOf(checked, transaction, "transaction.processing");
    const named = world.payments.find(transaction.id)?.railReference;
    mustHold(begun.length <= 1, () => wrong(`how often ${transaction.id} was given to the bank`, "once", begun));
    mustBe(`whether ${transaction.id} is in a file`, begun.length === 1, ids.includes(named));
  }
}

function rowsOf({ journal }: Checked, { id }: Transaction, wanted: JournalKind): readonly Stored<JournalEntry>[] {
  return journal.filter(({ transactionId, kind }) => transactionId === id && kind === wanted);
}

function mustBeOfTwo({ seq, kind, actor }: Stored<JournalEntry>): void {
  const persons = new Set(actor.split(","));
  mustBe(`the persons of row ${String(seq)}, ${kind}`, 2, persons.size);
}

function partsIn({ detail = "[]" }: Pick<JournalEntry, "detail">): readonly unknown[] {
  return JSON.parse(detail) as readonly unknown[];
}

function wrong(what: string, expected: unknown, found: unknown) {
  return { what, expected, found };
}
