import type { Account } from "../../../../src/domain/account.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import { StoreError } from "../../../../src/ledger/ports/store.js";

// The CHECKs of src/storage/migrations, for rows that are in memory.

const MAX_CENTS = 999_999_999_999_999;

export interface Sums {
  readonly reserveCents: bigint;
  readonly availableCents: bigint;
  readonly heldCents: bigint;
}

/** Throws what a database answers when a constraint does not hold. */
export function require(holds: boolean, constraint: string): void {
  if (!holds) throw new StoreError("rejected", new Error(`the constraint does not hold: ${constraint}`));
}

export function checkAccount({ status, availableCents, heldCents }: Account): void {
  require(isBalance(availableCents) && isBalance(heldCents), "balances of accounts");
  require(availableCents + heldCents <= MAX_CENTS, "limit of accounts");
  require(status !== "CLOSED" || availableCents + heldCents === 0, "closed accounts are empty");
}

export function checkTransaction({ amountCents, status, completedAt }: Transaction): void {
  require(isBalance(amountCents) && amountCents > 0, "amount of transactions");
  require((status === "COMPLETED") === (completedAt !== undefined), "completed_at of transactions");
}

export function checkEntry({ kind, transactionId, posting, availableAfterCents, heldAfterCents }: JournalEntry): void {
  require((transactionId !== undefined) === kind.startsWith("transaction."), "kind of journal");
  require(isBalance(availableAfterCents) && isBalance(heldAfterCents), "balances of journal");
  if (posting === undefined) return;
  require(posting.debit !== posting.credit, "sides of journal");
  require(isBalance(posting.amountCents) && posting.amountCents > 0, "amount of journal");
}

export function checkSupply({ reserveCents, availableCents, heldCents }: Sums): void {
  require(reserveCents >= 0n && availableCents >= 0n && heldCents >= 0n, "balances of supply");
  require(reserveCents === availableCents + heldCents, "supply in balance");
}

/** A whole number from zero to the limit. */
function isBalance(cents: number): boolean {
  return Number.isSafeInteger(cents) && cents >= 0 && cents <= MAX_CENTS;
}
