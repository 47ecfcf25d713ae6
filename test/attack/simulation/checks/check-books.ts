import type { Account, AccountStatus } from "../../../../src/domain/account.js";
import type { BookAccount, JournalEntry, JournalKind, Posting } from "../../../../src/domain/journal.js";
import type { Transaction, TransactionStatus } from "../../../../src/domain/transaction.js";
import type { Books, Stored } from "../disks/disk.js";
import { mustBe, mustHold } from "../report/violation.js";

// Checks docs/ledger.md, "What must always be true", from the journal alone.

type Entry = Stored<JournalEntry>;

interface StatusAfter {
  readonly account?: AccountStatus;
  readonly transaction?: TransactionStatus;
}

/** The status that a row of each kind sets. A kind that sets none has {} here. */
const STATUS_AFTER: Readonly<Record<JournalKind, StatusAfter>> = {
  "account.created": { account: "ACTIVE" },
  "account.frozen": { account: "FROZEN" },
  "account.unfrozen": { account: "ACTIVE" },
  "account.closed": { account: "CLOSED" },
  "transaction.pending": { transaction: "PENDING" },
  "transaction.completed": { transaction: "COMPLETED" },
  "transaction.canceled": { transaction: "CANCELED" },
};

const CENTS_MAX = 999_999_999_999_999;

/** Derives everything again from the journal and compares it with the tables that sum it up. */
export function checkBooks(books: Books): void {
  checkSeq(books);
  checkAccounts(books);
  checkTransactions(books);
  checkSupply(books);
  checkNames(books);
}

/** Checks that the earlier rows of the journal are still there, unchanged. */
export function checkAppendOnly(before: readonly Entry[], { journal }: Books): void {
  mustBe("the journal's first rows", before, journal.slice(0, before.length));
}

function checkSeq({ journal, lastSeq }: Books): void {
  journal.forEach(({ seq }, index) => {
    mustBe("the seq of a row of the journal", index + 1, seq);
  });
  mustBe("the head of the journal", journal.length, lastSeq);
}

interface Derived {
  availableCents: number;
  heldCents: number;
  status: AccountStatus | undefined;
  seq: number;
}

function checkAccounts({ journal, accounts }: Books): void {
  const derived = new Map<string, Derived>();
  for (const entry of journal) {
    const account = derived.get(entry.accountId) ?? {
      availableCents: 0,
      heldCents: 0,
      status: undefined,
      seq: entry.seq,
    };
    derived.set(entry.accountId, account);
    follow(account, entry);
  }
  mustBe("how many accounts there are", derived.size, accounts.length);
  for (const { id, status, availableCents, heldCents, seq } of accounts) {
    mustBe(`account ${id}, by the journal`, derived.get(id), { availableCents, heldCents, status, seq });
  }
}

function follow(account: Derived, entry: Entry): void {
  const { seq, kind, posting, availableAfterCents, heldAfterCents } = entry;
  account.status = STATUS_AFTER[kind].account ?? account.status;
  account.availableCents += changeOf("available", posting);
  account.heldCents += changeOf("held", posting);
  const { availableCents, heldCents, status } = account;
  mustHold(availableCents === availableAfterCents && heldCents === heldAfterCents, () => ({
    what: `the balances after row ${String(seq)}`,
    expected: { availableCents, heldCents },
    found: { availableAfterCents, heldAfterCents },
  }));
  mustHold(availableCents >= 0 && heldCents >= 0 && availableCents + heldCents <= CENTS_MAX, () => ({
    what: `the balances after row ${String(seq)}`,
    expected: "from zero to the limit",
    found: { availableCents, heldCents },
  }));
  mustHold(status !== "CLOSED" || availableCents + heldCents === 0, () => ({
    what: `the closed account after row ${String(seq)}`,
    expected: "empty",
    found: { availableCents, heldCents },
  }));
}

/** A balance is a liability: a credit adds to it. */
function changeOf(book: BookAccount, posting: Posting | undefined): number {
  if (posting === undefined) return 0;
  return (posting.credit === book ? posting.amountCents : 0) - (posting.debit === book ? posting.amountCents : 0);
}

function checkTransactions({ journal, transactions }: Books): void {
  const entries = new Map<string, Entry[]>();
  for (const entry of journal) {
    if (entry.transactionId === undefined) continue;
    const own = entries.get(entry.transactionId);
    if (own === undefined) entries.set(entry.transactionId, [entry]);
    else own.push(entry);
  }
  mustBe("how many transactions there are", entries.size, transactions.length);
  for (const transaction of transactions) checkTransaction(transaction, entries.get(transaction.id) ?? []);
}

function checkTransaction(transaction: Stored<Transaction>, entries: readonly Entry[]): void {
  const { id, accountId, organizationId, status, seq } = transaction;
  const last = entries.at(-1);
  mustBe(
    `the status of ${id}, by the journal`,
    last === undefined ? undefined : STATUS_AFTER[last.kind].transaction,
    status,
  );
  mustBe(`the seq of ${id}, by the journal`, entries[0]?.seq, seq);
  mustBe(`the steps of ${id}`, stepsOf(transaction).join(", then "), entries.map(stepOf).join(", then "));
  for (const entry of entries) {
    mustBe(`whose account row ${String(entry.seq)} is about`, accountId, entry.accountId);
    mustBe(`whose row ${String(entry.seq)} is`, organizationId, entry.organizationId);
  }
}

/** Written again on purpose: the check must not depend on the code under test. */
function stepsOf({ type, rail, status, amountCents }: Transaction): string[] {
  const amount = String(amountCents);
  const ended = status !== "PENDING";
  if (type === "MINT") {
    if (rail === "direct") return [`transaction.completed ${amount} from reserve to available`];
    return ["transaction.pending", ...(ended ? ["transaction.canceled"] : [])];
  }
  if (rail === "direct") return [`transaction.completed ${amount} from available to reserve`];
  return [
    `transaction.pending ${amount} from available to held`,
    ...(ended ? [`transaction.canceled ${amount} from held to available`] : []),
  ];
}

function stepOf({ kind, posting }: Entry): string {
  if (posting === undefined) return kind;
  return `${kind} ${String(posting.amountCents)} from ${posting.debit} to ${posting.credit}`;
}

function checkSupply({ journal, accounts, supply }: Books): void {
  for (const [organizationId, found] of supply) {
    const own = accounts.filter((account) => account.organizationId === organizationId);
    const sum = (field: "availableCents" | "heldCents"): number =>
      own.reduce((total, account: Account) => total + account[field], 0);
    let reserve = 0;
    for (const entry of journal) {
      // The reserve is an asset: a debit adds to it.
      if (entry.organizationId === organizationId) reserve -= changeOf("reserve", entry.posting);
    }
    const derived = { reserve, available: sum("availableCents"), held: sum("heldCents") };
    mustBe(`the supply of ${organizationId}, by the journal`, derived, found);
    mustBe(`what ${organizationId} owes`, found.reserve, found.available + found.held);
  }
}

function checkNames({ accounts, transactions, idempotencyKeys }: Books): void {
  const resources = new Map<string, Account | Transaction>();
  for (const resource of [...accounts, ...transactions]) resources.set(resource.id, resource);
  mustBe("how many ids there are", accounts.length + transactions.length, resources.size);
  const users = new Set(accounts.map(({ organizationId, userId }) => `${organizationId} ${userId}`));
  mustBe("how many users have an account", accounts.length, users.size);
  const references = new Set(transactions.map(({ organizationId, reference }) => `${organizationId} ${reference}`));
  mustBe("how many references name a transaction", transactions.length, references.size);
  for (const { organizationId, key, resourceId } of idempotencyKeys) {
    mustBe(`whose the resource of key ${key} is`, organizationId, resources.get(resourceId)?.organizationId);
  }
}
