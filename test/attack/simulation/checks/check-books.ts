import type { Account, AccountStatus } from "../../../../src/domain/account.js";
import { type BookHead, type BookSums, ofEachAccount } from "../../../../src/domain/book.js";
import type { BookAccount, JournalEntry, JournalKind, Posting } from "../../../../src/domain/journal.js";
import type { Transaction, TransactionStatus } from "../../../../src/domain/transaction.js";
import type { FreezeId, OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Books, Disk, Stored } from "../disks/disk.js";
import { mustBe, mustHold } from "../report/violation.js";
import { checkLimits } from "./check-limits.js";

// Checks docs/ledger.md, "What must always be true", from the journal alone.

type Entry = Stored<JournalEntry>;

/** One organization's part of what is durable. */
interface OwnBook extends Omit<Books, "heads"> {
  readonly head: BookHead;
}

interface StatusAfter {
  readonly account?: AccountStatus;
  readonly transaction?: TransactionStatus;
}

/** The status that a row of each of these kinds sets. A freeze and its end count the freezes. */
const STATUS_AFTER: { readonly [Kind in JournalKind]?: StatusAfter } = {
  "account.created": { account: "ACTIVE" },
  "account.closed": { account: "CLOSED" },
  "transaction.pending": { transaction: "PENDING" },
  "transaction.completed": { transaction: "COMPLETED" },
  "transaction.processing": { transaction: "PROCESSING" },
  "transaction.failed": { transaction: "FAILED" },
  "transaction.canceled": { transaction: "CANCELED" },
};
const ENDS: readonly JournalKind[] = ["transaction.completed", "transaction.failed", "transaction.canceled"];

const CENTS_MAX = 999_999_999_999_999;
const ASSETS: readonly BookAccount[] = ["reserve", "shortfall", "charges"];

/** Derives each book again from its journal, and compares it with the tables that sum it up. */
export function checkBooks({ organizations }: Pick<Disk, "organizations">, books: Books): void {
  mustBe("the organizations that have a book", [...organizations].sort(), [...books.heads.keys()].sort());
  let rows = 0;
  for (const organizationId of organizations) {
    const book = ownBook(organizationId, books);
    checkRows(book);
    checkAccounts(book);
    checkFreezes(book);
    checkTransactions(book);
    checkReceipts(book);
    checkDeposits(book);
    checkSums(book);
    checkLimits(book);
    checkNames(book);
    rows += book.journal.length;
  }
  mustBe("how many rows the books have together", books.journal.length, rows);
}

function ownBook(
  wanted: OrganizationId,
  { accounts, freezes, transactions, deposits, journal, heads, idempotencyKeys }: Books,
): OwnBook {
  const head = heads.get(wanted);
  if (head === undefined) throw new Error(`${wanted} has no book`);
  const isOwn = ({ organizationId }: { readonly organizationId: OrganizationId }): boolean => organizationId === wanted;
  return {
    head,
    accounts: accounts.filter(isOwn),
    freezes: freezes.filter(isOwn),
    transactions: transactions.filter(isOwn),
    deposits: deposits.filter(isOwn),
    journal: journal.filter(isOwn),
    idempotencyKeys: idempotencyKeys.filter(isOwn),
  };
}

/** Checks that no row is missing or doubled, and that no time is before that of an earlier row. */
function checkRows({ journal, head }: OwnBook): void {
  const { organizationId } = head;
  let before: Entry | undefined;
  for (const entry of journal) {
    mustBe(`the seq of a row of ${organizationId}`, (before?.seq ?? 0) + 1, entry.seq);
    const isFirst = entry.kind === "organization.created";
    mustBe(`whether row ${String(entry.seq)} opens the book of ${organizationId}`, before === undefined, isFirst);
    mustHold(before === undefined || before.recordedAt <= entry.recordedAt, () => ({
      what: `the time of row ${String(entry.seq)} of ${organizationId}`,
      expected: `${String(before?.recordedAt)} or later`,
      found: entry.recordedAt,
    }));
    before = entry;
  }
  mustBe(`the last row of ${organizationId}, by its head`, before?.seq, head.lastSeq);
  mustBe(`the last time of ${organizationId}, by its head`, before?.recordedAt, head.lastRecordedAt);
}

interface Derived {
  availableCents: number;
  heldCents: number;
  status: AccountStatus | undefined;
  /** The ids of the freezes that stand, oldest first. */
  freezes: FreezeId[];
  isErased: boolean;
  openPayments: number;
  seq: number;
  createdAt: number;
}

function checkAccounts({ journal, accounts }: OwnBook): void {
  const derived = new Map<string, Derived>();
  const open = new Set<unknown>();
  for (const entry of journal) {
    if (entry.accountId === undefined) continue;
    const account = derived.get(entry.accountId) ?? {
      availableCents: 0,
      heldCents: 0,
      status: undefined,
      freezes: [],
      isErased: false,
      openPayments: 0,
      seq: entry.seq,
      createdAt: entry.recordedAt,
    };
    derived.set(entry.accountId, account);
    follow(account, entry);
    if (entry.kind === "transaction.pending") open.add(entry.transactionId);
    const ends = ENDS.includes(entry.kind) && open.delete(entry.transactionId);
    account.openPayments += entry.kind === "transaction.pending" ? 1 : ends ? -1 : 0;
  }
  mustBe("how many accounts there are", derived.size, accounts.length);
  for (const account of accounts) {
    const { id, person, status, availableCents, heldCents, openPayments, freezes, seq, createdAt } = account;
    const isErased = person === undefined;
    const ids = freezes.map((freeze) => freeze.id);
    const balances = { availableCents, heldCents, openPayments };
    const found: Derived = { ...balances, status, freezes: ids, isErased, seq, createdAt };
    mustBe(`account ${id}, by the journal`, derived.get(id), found);
  }
}

function follow(account: Derived, entry: Entry): void {
  const { seq, kind, posting, balancesAfter } = entry;
  account.status = STATUS_AFTER[kind]?.account ?? account.status;
  if (entry.freezeId !== undefined) followFreeze(account, entry.freezeId, entry);
  if (kind === "account.erased") account.isErased = true;
  account.availableCents += changeOf("available", posting);
  account.heldCents += changeOf("held", posting);
  const { availableCents, heldCents, status } = account;
  mustBe(`the balances after row ${String(seq)}`, { availableCents, heldCents }, balancesAfter);
  mustHold(availableCents >= 0 && heldCents >= 0 && availableCents + heldCents <= CENTS_MAX, () => ({
    what: `the balances after row ${String(seq)}`,
    expected: "from zero to the limit",
    found: { availableCents, heldCents },
  }));
  mustHold((status !== "CLOSED" && kind !== "account.erased") || availableCents + heldCents === 0, () => ({
    what: `the closed or erased account after row ${String(seq)}`,
    expected: "empty",
    found: { availableCents, heldCents },
  }));
}

function followFreeze(account: Derived, freezeId: FreezeId, { seq, kind }: Entry): void {
  const stood = account.freezes.includes(freezeId);
  mustBe(`whether the freeze of row ${String(seq)} stood before it`, kind === "account.unfrozen", stood);
  account.freezes = stood ? account.freezes.filter((id) => id !== freezeId) : [...account.freezes, freezeId];
  account.status = account.freezes.length > 0 ? "FROZEN" : "ACTIVE";
}

/** Compares each freeze with the rows that began and ended it. */
function checkFreezes({ journal, freezes }: OwnBook): void {
  const rowsOf = (wanted: JournalKind): Map<string | undefined, Entry> =>
    new Map(journal.filter(({ kind }) => kind === wanted).map((entry) => [entry.freezeId, entry]));
  const [begun, ended] = [rowsOf("account.frozen"), rowsOf("account.unfrozen")];
  mustBe("how many freezes there are", begun.size, freezes.length);
  for (const { id, accountId, seq, note, createdBy, createdAt, lifted } of freezes) {
    const [first, last] = [begun.get(id), ended.get(id)];
    mustBe(
      `freeze ${id}, by the journal`,
      [first?.accountId, first?.seq, first?.reason, first?.actor, first?.recordedAt],
      [accountId, seq, note, createdBy, createdAt],
    );
    const end = last && { by: last.actor, at: last.recordedAt, note: last.reason };
    mustBe(`the end of freeze ${id}, by the journal`, end, lifted);
  }
}

/** A balance is a liability: a credit adds to it. */
function changeOf(book: BookAccount, posting: Posting | undefined): number {
  if (posting === undefined) return 0;
  return (posting.credit === book ? posting.amountCents : 0) - (posting.debit === book ? posting.amountCents : 0);
}

function checkTransactions({ journal, transactions }: OwnBook): void {
  const entries = new Map<string, Entry[]>();
  for (const entry of journal) {
    if (entry.transactionId === undefined) continue;
    const own = entries.get(entry.transactionId);
    if (own === undefined) entries.set(entry.transactionId, [entry]);
    else own.push(entry);
  }
  mustBe("how many transactions there are", entries.size, transactions.length);
  const byId = new Map(transactions.map((transaction) => [transaction.id, transaction]));
  for (const transaction of transactions) {
    checkTransaction(transaction, entries.get(transaction.id) ?? []);
    checkLinks(transaction, byId);
  }
}

/** A reversal undoes all of a completed transaction, and the two name each other. */
function checkLinks(transaction: Stored<Transaction>, byId: ReadonlyMap<string, Stored<Transaction>>): void {
  const { id, accountId, type, amountCents, reference, rail, corrects, reversedById } = transaction;
  if (reversedById !== undefined) {
    mustBe(`what the reversal of ${id} corrects`, id, byId.get(reversedById)?.corrects?.transactionId);
  }
  if (corrects === undefined) return;
  const original = byId.get(corrects.transactionId);
  if (corrects.kind === "LATE") {
    const isEnded = original?.status === "COMPLETED" || original?.status === "FAILED";
    mustBe(`whether what ${id} corrects has ended`, true, isEnded);
    mustBe(
      `what ${id} moved late`,
      { accountId, type, rail },
      { accountId: original?.accountId, type: original?.type, rail: original?.rail },
    );
    return;
  }
  mustBe(
    `what ${id} reverses`,
    { accountId, type, amountCents, rail, status: "COMPLETED", reference, reversedById: id, corrects: undefined },
    {
      accountId: original?.accountId,
      type: original?.type === "MINT" ? "REDEEM" : "MINT",
      amountCents: original?.amountCents,
      rail: original?.rail,
      status: original?.status,
      reference: `kesc:reverse:${corrects.transactionId}`,
      reversedById: original?.reversedById,
      corrects: original?.corrects,
    },
  );
}

function checkTransaction(transaction: Stored<Transaction>, entries: readonly Entry[]): void {
  const { id, accountId, status, seq, createdAt, updatedAt, completedAt } = transaction;
  const [first, last] = [entries[0], entries.at(-1)];
  mustBe(
    `the status of ${id}, by the journal`,
    entries.findLast(({ kind }) => STATUS_AFTER[kind]?.transaction !== undefined)?.kind,
    kindOf(status),
  );
  mustBe(`the seq of ${id}, by the journal`, first?.seq, seq);
  const steps = entries.filter(({ kind }) => STATUS_AFTER[kind]?.transaction !== undefined);
  const began = steps.some(({ kind }) => kind === "transaction.processing");
  const found = steps.map(stepOf).join(", then ");
  mustHold(
    stepsOf(transaction, began).some((expected) => expected.join(", then ") === found),
    () => ({
      what: `the steps of ${id}`,
      expected: stepsOf(transaction, began),
      found,
    }),
  );
  checkWords(transaction, entries);
  const completed = entries.find(({ kind }) => kind === "transaction.completed");
  mustBe(
    `the times of ${id}, by the journal`,
    { createdAt: first?.recordedAt, updatedAt: last?.recordedAt, completedAt: completed?.recordedAt },
    { createdAt, updatedAt, completedAt },
  );
  const { availableAfterCents } = transaction;
  mustBe(`the balance after ${id}, by the journal`, completed?.balancesAfter?.availableCents, availableAfterCents);
  for (const entry of entries) {
    mustBe(`whose account row ${String(entry.seq)} is about`, accountId, entry.accountId);
  }
}

/** Compares what the rail said and what a person must look at. */
function checkWords(
  { id, type, failure, railReceipt, openFlags, heldFor, depositId }: Transaction,
  entries: readonly Entry[],
): void {
  const flags = new Set<string | undefined>();
  let held = "";
  for (const { kind, detail } of entries) {
    if (ENDS.includes(kind)) flags.clear();
    if (kind === "transaction.held") held = detail ?? "";
    if (kind === "transaction.released" || ENDS.includes(kind)) held = "";
    if (kind === "transaction.processing") mustBe(`for what ${id} was held when its rail was asked`, "", held);
    if (kind === "transaction.flagged") flags.add(wordIn(detail));
    if (kind === "transaction.attended") flags.delete(wordIn(detail));
  }
  mustBe(
    `what the rail said of ${id}, by the journal`,
    {
      failure: wordIn(entries.find(({ kind }) => kind === "transaction.failed")?.detail),
      receipt: entries.find(({ receipt }) => receipt !== undefined)?.receipt,
      flags: [...flags],
      held,
    },
    // The receipt of a deposit stands on the row that has received it.
    {
      failure,
      receipt: type === "MINT" && depositId !== undefined ? undefined : railReceipt,
      flags: [...openFlags],
      held: heldFor.join(","),
    },
  );
}

/** The word of a detail, without the persons. Written again on purpose. */
function wordIn(detail: string | undefined): string | undefined {
  return detail?.startsWith("[") === true ? (JSON.parse(detail) as string[])[0] : detail;
}

/**
 * The steps that a transaction may have taken. Written again on purpose: the check must not depend
 * on the code under test.
 */
function stepsOf(
  { type, rail, status, amountCents, corrects, depositId }: Transaction,
  began: boolean,
): readonly string[][] {
  const amount = String(amountCents);
  const isMint = type === "MINT";
  const completed = (from: string, to: string): string => `transaction.completed ${amount} from ${from} to ${to}`;
  const [minted, redeemed] = [completed("reserve", "available"), completed("available", "reserve")];
  const unallocated = completed("reserve", "unallocated");
  if (depositId !== undefined) {
    const back = [completed("available", "unallocated"), redeemed, completed("shortfall", "reserve")];
    return isMint ? [[completed("unallocated", "available")]] : back.map((step) => [step]);
  }
  if (rail === "direct") return [[isMint ? minted : redeemed]];
  if (corrects !== undefined) {
    return isMint ? [[minted], [unallocated]] : [[redeemed], [completed("shortfall", "reserve")]];
  }
  const moved = (kind: string, from: string, to: string): string =>
    isMint ? kind : `${kind} ${amount} from ${from} to ${to}`;
  const released = (kind: string): string => moved(kind, "held", "available");
  const begin = [moved("transaction.pending", "available", "held"), ...(began ? ["transaction.processing"] : [])];
  switch (status) {
    case "PENDING":
      return began ? [] : [begin];
    case "PROCESSING":
      return began ? [begin] : [];
    case "COMPLETED":
      if (!began) return [];
      return (isMint ? [minted, unallocated] : [completed("held", "reserve")]).map((end) => [...begin, end]);
    case "FAILED":
      return [[...begin, released("transaction.failed")]];
    case "CANCELED":
      return began ? [] : [[...begin, released("transaction.canceled")]];
  }
}

function kindOf(status: TransactionStatus): string {
  return `transaction.${status.toLowerCase()}`;
}

/** A receipt and a movement are in the book once. */
function checkReceipts({ journal, transactions, head: { organizationId } }: OwnBook): void {
  const receipts = journal.flatMap(({ receipt }) => receipt ?? []);
  mustBe(`how many receipts ${organizationId} has`, receipts.length, new Set(receipts).size);
  const movements = transactions.flatMap(({ railMovement }) => railMovement ?? []);
  mustBe(`how many movements ${organizationId} has`, movements.length, new Set(movements).size);
}

/** Derives each deposit again from the rows that name it, and from its mints and redemptions. */
function checkDeposits({ journal, deposits, transactions, head: { organizationId, sums } }: OwnBook): void {
  const rowsOf = (kind: JournalKind): Map<string | undefined, Entry> =>
    new Map(journal.filter((entry) => entry.kind === kind).map((entry) => [entry.detail?.split(" ")[0], entry]));
  const [received, returned, reversed] = [
    rowsOf("deposit.received"),
    rowsOf("deposit.returned"),
    rowsOf("deposit.reversed"),
  ];
  mustBe(`how many deposits ${organizationId} has`, received.size, deposits.length);
  let unallocated = 0;
  for (const { id, seq, receipt, amountCents, status, reason, credits, accountId, transactionId } of deposits) {
    const [first, own] = [received.get(id), transactions.filter(({ depositId }) => depositId === id)];
    const mints = own.filter(({ type }) => type === "MINT");
    const standing = mints.filter(({ reversedById }) => reversedById === undefined);
    const back = own.find((each) => each.type === "REDEEM" && each.railReceipt !== undefined);
    const undone = mints.find(({ reversedById }) => reversedById !== undefined && reversedById === back?.id);
    const derived =
      returned.get(id) === undefined
        ? reversed.get(id) !== undefined || back !== undefined
          ? "REVERSED"
          : standing.length > 0
            ? "CREDITED"
            : "UNALLOCATED"
        : "RETURNED";
    const holder = standing[0] ?? undone;
    mustBe(
      `deposit ${id}, by the journal`,
      [first?.seq, first?.receipt, first?.posting?.amountCents, derived, mints.length, holder?.accountId, holder?.id],
      [seq, receipt, amountCents, status, credits, accountId, transactionId],
    );
    mustBe(`whether deposit ${id} has a reason`, status === "UNALLOCATED", reason !== undefined);
    mustHold(standing.length <= 1, () => ({ what: `the mints of ${id}`, expected: "one at most", found: standing }));
    if (status === "UNALLOCATED") unallocated += amountCents;
  }
  mustHold(unallocated <= sums.unallocated, () => ({
    what: `what the deposits of ${organizationId} have unallocated`,
    expected: `at most ${String(sums.unallocated)}`,
    found: unallocated,
  }));
}

function stepOf({ kind, posting }: Entry): string {
  if (posting === undefined) return kind;
  return `${kind} ${String(posting.amountCents)} from ${posting.debit} to ${posting.credit}`;
}

function checkSums({ journal, accounts, head: { organizationId, sums } }: OwnBook): void {
  const sumOf = (book: BookAccount): number => {
    const credits = journal.reduce((sum, { posting }) => sum + changeOf(book, posting), 0);
    // A debit adds to an asset. The second case would be -0 for no posting.
    return ASSETS.includes(book) ? 0 - credits : credits;
  };
  const derived: BookSums = ofEachAccount(sumOf);
  mustBe(`the sums of ${organizationId}, by the journal`, derived, sums);
  const owed = (field: "availableCents" | "heldCents"): number =>
    accounts.reduce((total, account: Account) => total + account[field], 0);
  mustBe(`the available balances of ${organizationId}, together`, sums.available, owed("availableCents"));
  mustBe(`the held balances of ${organizationId}, together`, sums.held, owed("heldCents"));
  const { reserve, shortfall, charges, available, held, unallocated } = sums;
  mustBe(`what ${organizationId} owes`, reserve + shortfall + charges, available + held + unallocated);
}

function checkNames({ accounts, freezes, transactions, idempotencyKeys }: OwnBook): void {
  const ids = new Set<string>([...accounts, ...freezes, ...transactions].map(({ id }) => id));
  mustBe("how many ids there are", accounts.length + freezes.length + transactions.length, ids.size);
  const open = accounts.filter(({ status }) => status !== "CLOSED");
  const holders = open.flatMap(({ person }) => person?.userId ?? []);
  mustBe("how many users have an open account", holders.length, new Set(holders).size);
  const references = new Set(transactions.map(({ reference }) => reference));
  mustBe("how many references name a transaction", transactions.length, references.size);
  for (const { key, resourceId } of idempotencyKeys) {
    mustBe(`whether the resource of key ${key} is there`, true, ids.has(resourceId));
  }
}
