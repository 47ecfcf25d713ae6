import type { Account, AccountHolder, LedgerAccount, Person } from "../../src/domain/account.js";
import type { BookHead } from "../../src/domain/book.js";
import type { Book, Decision, Effect, TableName, Tables } from "../../src/domain/decision.js";
import type { Refusal } from "../../src/domain/refusal.js";
import { DIRECT_RAIL, type Transaction } from "../../src/domain/transaction.js";
import { toCents } from "../../src/domain/values/cents.js";
import { NO_EMAIL } from "../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import {
  NO_REASON,
  parseDescription,
  parseMetadata,
  parseReference,
  parseUserId,
} from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { BatchBook } from "../../src/ledger/batch-book.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import { newAccountId, newOrganizationId, newTransactionId, SLOW_RAIL, valid } from "./commands.js";

// Builders of the state before a decision: one organization, and rows with sensible defaults.

export const EARLIER = toUnixMillis(1_700_000_000_000);
export const NOW = toUnixMillis(1_700_000_060_000);
export const ORGANIZATION = newOrganizationId();
export const STRANGER = newOrganizationId();

/** The user "user", without an e-mail address. */
export function givenPerson(given: Partial<Person> = {}): Person {
  return {
    userId: valid(parseUserId("user")),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    ...given,
  };
}

/** The holder of an account. */
export function givenHolder({ id, organizationId }: LedgerAccount, person?: Partial<Person>): AccountHolder {
  return { ...erasedHolder({ id, organizationId }), person: givenPerson(person) };
}

/** The holder of an open account whose personal data was erased. */
export function erasedHolder({ id, organizationId }: Pick<LedgerAccount, "id" | "organizationId">): AccountHolder {
  return {
    accountId: id,
    organizationId,
    person: undefined,
    isOpen: true,
    phoneNumberChangedAt: undefined,
    emailChangedAt: undefined,
  };
}

/** The organization's book, open and empty apart from its first row. */
export function givenHead(given: Partial<BookHead> = {}): BookHead {
  return {
    organizationId: ORGANIZATION,
    state: "OPEN",
    isSuspended: false,
    lastSeq: 1,
    lastRecordedAt: EARLIER,
    sums: { reserve: 0, shortfall: 0, available: 0, held: 0, unallocated: 0 },
    ...given,
  };
}

/** An active account of the organization, with 100.00 available and 20.00 held. */
export function givenAccount(given: Partial<LedgerAccount> = {}): LedgerAccount {
  return {
    id: newAccountId(),
    organizationId: ORGANIZATION,
    status: "ACTIVE",
    statusReason: NO_REASON,
    availableCents: toCents(10_000),
    heldCents: toCents(2_000),
    createdAt: EARLIER,
    updatedAt: EARLIER,
    ...given,
  };
}

/**
 * A mint of 50.00 with the reference "earlier", completed on the direct rail. After it 100.00 were
 * available.
 */
export function givenTransaction(given: Partial<Transaction> & Pick<Transaction, "accountId">): Transaction {
  return {
    id: newTransactionId(),
    organizationId: ORGANIZATION,
    type: "MINT",
    status: "COMPLETED",
    statusReason: NO_REASON,
    amountCents: toCents(5_000),
    reference: valid(parseReference("earlier")),
    description: valid(parseDescription("")),
    metadata: valid(parseMetadata(new Map())),
    rail: DIRECT_RAIL,
    corrects: undefined,
    reversedById: undefined,
    availableAfterCents: toCents(10_000),
    createdAt: EARLIER,
    updatedAt: EARLIER,
    completedAt: EARLIER,
    ...given,
  };
}

/** The same on a rail on which nothing has moved yet. */
export function givenPending(given: Partial<Transaction> & Pick<Transaction, "accountId">): Transaction {
  const pending = {
    status: "PENDING",
    rail: SLOW_RAIL,
    availableAfterCents: undefined,
    completedAt: undefined,
  } as const;
  return givenTransaction({ ...pending, ...given });
}

/** An account with its holder, as the service returns it. */
export function givenAccountAndHolder(given: Partial<LedgerAccount> = {}, person?: Partial<Person>): Account {
  return { ...givenAccount(given), person: givenPerson(person) };
}

/** The ledger's own book, with these rows in it. Without `accountHolders`, each account has one. */
export function givenBook(rows: Partial<Loaded> = {}): Book {
  const { accounts = [] } = rows;
  return new BatchBook({
    books: [givenHead(), givenHead({ organizationId: STRANGER })],
    begunAt: undefined,
    accounts,
    accountHolders: accounts.map((account) => givenHolder(account)),
    transactions: [],
    idempotencyKeys: [],
    ...rows,
  });
}

/** A decision in one word: the reason of a refusal, or the decision's kind. */
export function wordOf(decision: Decision<unknown>): Refusal["reason"] | "effect" | "replay" {
  return decision.kind === "refusal" ? decision.refusal.reason : decision.kind;
}

/** The effect of a decision that must have one. */
export function effectOf(decision: Decision<unknown>): Effect {
  if (decision.kind !== "effect") throw new Error(`${wordOf(decision)}, where an effect was expected`);
  return decision.effect;
}

/** The row that the effect puts into the table; undefined when it puts none. */
export function putOf<Name extends TableName>(effect: Effect, table: Name): Tables[Name] | undefined {
  return effect.puts.find((put) => put.table === table)?.row as Tables[Name] | undefined;
}
