import type { Account } from "../../../src/domain/account.js";
import { type BookHead, type BookSums, ofEachAccount } from "../../../src/domain/book.js";
import type { Deposit } from "../../../src/domain/deposit.js";
import type { Freeze } from "../../../src/domain/freeze.js";
import type { Resource } from "../../../src/domain/operations.js";
import type { Payment } from "../../../src/domain/payment.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { UnixMillis } from "../../../src/domain/values/time.js";
import type { LedgerRefusal } from "../../../src/ledger/ports/outcome.js";
import { isProposal, plain } from "../../support/acted.js";

// What the models keep, and what a caller sees of it.

/** The part of a resource that a caller sees, without its times. */
export type Seen = SeenAccount | SeenTransaction | SeenBook | SeenProposal | SeenDeposit | SeenTaken;
/** What a command returns that waits for a second person. */
export interface SeenProposal {
  readonly isProposed: true;
}
/** What a command returns about shillings that a transaction has already. */
export interface SeenTaken {
  readonly isTaken: true;
}
export type SeenDeposit = Pick<
  Deposit,
  "id" | "rail" | "receipt" | "amountCents" | "status" | "reason" | "accountId" | "transactionId" | "credits"
>;
export type SeenAccount = Pick<
  Account,
  "id" | "person" | "status" | "availableCents" | "heldCents" | "openPayments" | "tier" | "depositReference"
> & {
  readonly freezes: readonly SeenFreeze[];
  /** The freeze that the command made or lifted. */
  readonly freeze?: SeenFreeze;
};
export type SeenFreeze = Pick<Freeze, "id" | "accountId" | "reason" | "note"> & { readonly isLifted: boolean };
export type SeenTransaction = Pick<
  Transaction,
  | "id"
  | "accountId"
  | "type"
  | "status"
  | "amountCents"
  | "reference"
  | "description"
  | "rail"
  | "railMovement"
  | "railReceipt"
  | "failure"
  | "openFlags"
  | "heldFor"
  | "corrects"
  | "depositId"
  | "reversedById"
  | "availableAfterCents"
>;
export type SeenBook = Pick<BookHead, "sums">;

export type Answer =
  | { readonly kind: "done"; readonly replayed: boolean; readonly resource: Seen }
  | { readonly kind: "refused"; readonly refusal: Refusal | LedgerRefusal };

export type Writable<Row> = { -readonly [Name in keyof Row]: Row[Name] };
export type ModelAccount = Writable<SeenAccount> &
  Pick<Account, "organizationId"> & {
    phoneNumberChangedAt: UnixMillis | undefined;
    emailChangedAt: UnixMillis | undefined;
  };
export type ModelFreeze = Writable<SeenFreeze> & Pick<Freeze, "organizationId">;
export type ModelTransaction = Writable<SeenTransaction> &
  Pick<Transaction, "organizationId"> & { payment: ModelPayment | undefined };
export type ModelDeposit = Writable<SeenDeposit> & Pick<Deposit, "organizationId">;
export type ModelPayment = Writable<
  Pick<Payment, "state" | "number" | "maskedNumber" | "railReference" | "sends" | "turnedAway">
>;
export type ModelBook = Writable<
  Omit<BookHead, "organizationId" | "limits" | "suspendedSeq" | "receiptsRequiredSeq">
> & {
  isSuspended: boolean;
};

/** The fields of a transaction that no rail has said anything about. */
export const NO_REPORT = {
  railMovement: undefined,
  railReceipt: undefined,
  failure: undefined,
  openFlags: [],
  heldFor: [],
} as const;

export const CENTS_MAX = 999_999_999_999_999;
export const SUM_CENTS_MAX = 9_007_199_254_740_991;

/**
 * The part of a resource on which the model and the service must agree, as it is at this moment.
 */
export function seen(given: Seen | Resource): Seen {
  if ("isProposed" in given || isProposal(given)) return { isProposed: true };
  const isTaken = "deposit" in given && given.deposit === undefined && given.transaction === undefined;
  if ("isTaken" in given || isTaken) return { isTaken: true };
  const isActed = "resource" in given || "proposal" in given || "content" in given || "revision" in given;
  const resource = isActed || "deposit" in given ? plain(given) : given;
  if ("secretSha256" in resource || "usableAt" in resource) {
    throw new Error("the models know no keys and no destinations");
  }
  if ("credits" in resource) return seenDeposit(resource);
  if ("sums" in resource) return { sums: resource.sums };
  if ("person" in resource) {
    const { id, person, status, availableCents, heldCents, openPayments, tier, freezes } = resource;
    const { depositReference } = resource;
    const balances = { availableCents, heldCents, openPayments };
    const account = { id, person, status, tier, depositReference, ...balances, freezes: freezes.map(seenFreeze) };
    return "freeze" in resource ? { ...account, freeze: seenFreeze(resource.freeze) } : account;
  }
  const { id, accountId, type, status, amountCents, reference, description, rail } = resource;
  const { railMovement, railReceipt, failure, openFlags, corrects, depositId, reversedById } = resource;
  const { availableAfterCents, heldFor } = resource;
  const content = { id, accountId, type, amountCents, reference, description, rail, corrects, depositId };
  const report = { railMovement, railReceipt, failure, openFlags: [...openFlags], heldFor: [...heldFor] };
  return { ...content, ...report, status, reversedById, availableAfterCents };
}

export function seenDeposit(deposit: SeenDeposit): SeenDeposit {
  const { id, rail, receipt, amountCents, status, reason, accountId, transactionId, credits } = deposit;
  return { id, rail, receipt, amountCents, status, reason, accountId, transactionId, credits };
}

function seenFreeze(freeze: SeenFreeze | Freeze): SeenFreeze {
  const { id, accountId, reason, note } = freeze;
  const isLifted = "isLifted" in freeze ? freeze.isLifted : freeze.lifted !== undefined;
  return { id, accountId, reason, note, isLifted };
}

export function done(resource: Seen, { replayed }: { replayed: boolean }): Answer {
  return { kind: "done", replayed, resource: seen(resource) };
}

export function refused(refusal: Refusal): Answer {
  return { kind: "refused", refusal };
}

export function cents(count: number): Cents {
  return count as Cents;
}

/** Changes the sums of a book, and the balances of an account, by these amounts. */
export function post(book: ModelBook, account: ModelAccount | undefined, by: Partial<BookSums>): void {
  const { available = 0, held = 0 } = by;
  const { sums } = book;
  book.sums = ofEachAccount((name) => sums[name] + (by[name] ?? 0));
  if (account === undefined) return;
  account.availableCents = cents(account.availableCents + available);
  account.heldCents = cents(account.heldCents + held);
}
