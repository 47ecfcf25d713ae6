import type { LedgerAccount } from "../../../../src/domain/account.js";
import type { BookHead } from "../../../../src/domain/book.js";
import type { TableName, Tables } from "../../../../src/domain/decision.js";
import type { Deposit } from "../../../../src/domain/deposit.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Payment } from "../../../../src/domain/payment.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import { StoreError } from "../../../../src/ledger/ports/store.js";

// The CHECKs of src/storage/migrations, for rows that are in memory.

const MAX_CENTS = 999_999_999_999_999;

/** Throws what a database answers when a constraint does not hold. */
export function require(holds: boolean, constraint: string): void {
  if (!holds) throw new StoreError("rejected", new Error(`the constraint does not hold: ${constraint}`));
}

export const CHECKS: { readonly [Name in TableName]?: (row: Tables[Name]) => void } = {
  accounts: checkAccount,
  transactions: checkTransaction,
  payments: checkPayment,
  deposits: checkDeposit,
};

function checkAccount({ status, availableCents, heldCents, openPayments }: LedgerAccount): void {
  require(Number.isInteger(openPayments) && openPayments >= 0, "open_payments of accounts");
  require(isBalance(availableCents) && isBalance(heldCents), "balances of accounts");
  require(availableCents + heldCents <= MAX_CENTS, "limit of accounts");
  require(status !== "CLOSED" || availableCents + heldCents + openPayments === 0, "closed accounts are empty");
}

function checkTransaction(transaction: Transaction): void {
  const { amountCents, status, completedAt, corrects, reversedById, failure, railMovement, railReceipt } = transaction;
  require(isBalance(amountCents) && amountCents > 0, "amount of transactions");
  require((status === "COMPLETED") === (completedAt !== undefined), "completed_at of transactions");
  require((status === "FAILED") === (failure !== undefined), "failure of transactions");
  const hasNoProof = railMovement === undefined && railReceipt === undefined;
  require(status === "COMPLETED" || hasNoProof, "proofs of transactions");
  const mayBeReversed = status === "COMPLETED" && corrects === undefined;
  require(reversedById === undefined || mayBeReversed, "reversed_by_id of transactions");
}

function checkPayment({ state, number, begunAt, sends }: Payment): void {
  require((state === "ENDED") === (number === undefined), "phone_number of payments");
  const mustBeBegun = state === "SENDING" || state === "ACCEPTED";
  require(!mustBeBegun || begunAt !== undefined, "begun_at of payments");
  require((begunAt === undefined) === (sends === 0), "sends of payments");
}

function checkDeposit({ amountCents, status, reason, accountId, transactionId, credits }: Deposit): void {
  require(isBalance(amountCents) && amountCents > 0, "amount of deposits");
  require(Number.isInteger(credits) && credits >= 0, "credits of deposits");
  require((status === "UNALLOCATED") === (reason !== undefined), "reason of deposits");
  require((accountId === undefined) === (transactionId === undefined), "account of deposits");
  require(status !== "CREDITED" || transactionId !== undefined, "credited deposits");
  require(status !== "UNALLOCATED" || transactionId === undefined, "unallocated deposits");
}

export function checkEntry({ kind, accountId, transactionId, freezeId, posting, balancesAfter }: JournalEntry): void {
  require((transactionId !== undefined) === kind.startsWith("transaction."), "kind of journal");
  require((freezeId !== undefined) === ["account.frozen", "account.unfrozen"].includes(kind), "freeze of journal");
  require((accountId === undefined) === (balancesAfter === undefined), "account of journal");
  const { availableCents = 0, heldCents = 0 } = balancesAfter ?? {};
  require(isBalance(availableCents) && isBalance(heldCents), "balances of journal");
  if (posting === undefined) return;
  require(posting.debit !== posting.credit, "sides of journal");
  require(isBalance(posting.amountCents) && posting.amountCents > 0, "amount of journal");
}

export function checkBook({ lastSeq, sums }: BookHead): void {
  const { reserve, shortfall, charges, ...liabilities } = sums;
  const { available, held, unallocated } = liabilities;
  require(Number.isSafeInteger(lastSeq) && lastSeq >= 0, "last_seq of books");
  require(Number.isSafeInteger(reserve) && Number.isSafeInteger(charges), "reserve of books");
  const isSum = (cents: number): boolean => Number.isSafeInteger(cents) && cents >= 0;
  require([shortfall, ...Object.values(liabilities)].every(isSum), "sums of books");
  require(reserve + shortfall + charges === available + held + unallocated, "books in balance");
}

/** A whole number from zero to the limit. */
function isBalance(cents: number): boolean {
  return Number.isSafeInteger(cents) && cents >= 0 && cents <= MAX_CENTS;
}
