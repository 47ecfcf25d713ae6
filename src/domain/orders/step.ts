import type { LedgerAccount } from "../account.js";
import type { Effect, Put } from "../decision.js";
import { balancesOf, type JournalEntry, type JournalKind, postedTo, type Posting } from "../journal.js";
import type { LimitsInForce } from "../limits/usage.js";
import type { RailReceipt } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { Actor } from "../values/actor.js";
import { NO_REASON, type StatusReason } from "../values/text.js";

/** One step of a transaction: one row of the journal. */
export interface Step {
  /** The transaction after the step. Its `updatedAt` is the time of the step. */
  readonly transaction: Transaction;
  /** The account before the step. */
  readonly account: LedgerAccount;
  readonly kind: Extract<JournalKind, `transaction.${string}`>;
  readonly posting?: Posting | undefined;
  readonly actor: Actor;
  readonly reason?: StatusReason;
  readonly detail?: string | undefined;
  readonly receipt?: RailReceipt | undefined;
}

/** A step that was taken. */
export interface PostedStep {
  readonly transaction: Transaction;
  /** The account after the step. */
  readonly account: LedgerAccount;
  readonly entry: JournalEntry;
}

/** Steps that one account took one after the other. */
export type Steps = readonly [PostedStep, ...PostedStep[]];

export function lastOf(steps: Steps): PostedStep {
  return steps.reduce((_, step) => step);
}

/** Posts the step to the account. A completed transaction learns the balance after it. */
export function postedStep(step: Step): PostedStep {
  const { transaction, account, kind, posting, actor, reason = NO_REASON, detail, receipt } = step;
  const { organizationId, id: transactionId, updatedAt: now } = transaction;
  const posted: LedgerAccount =
    posting === undefined ? account : { ...account, ...postedTo(account, posting), updatedAt: now };
  const entry: JournalEntry = {
    organizationId,
    accountId: account.id,
    transactionId,
    freezeId: undefined,
    kind,
    posting,
    balancesAfter: balancesOf(posted),
    detail,
    receipt,
    actor,
    reason,
    recordedAt: now,
  };
  const isCompleted = kind === "transaction.completed";
  return {
    transaction: isCompleted ? { ...transaction, availableAfterCents: posted.availableCents } : transaction,
    account: posted,
    entry,
  };
}

/** Returns the effect of the steps, with more rows. Each row is as it is after the last step. */
export function effectOf(steps: Steps, puts: readonly Put[] = [], limits?: LimitsInForce): Effect {
  const transactions = new Map(steps.map(({ transaction }) => [transaction.id, transaction]));
  const effect: Effect = {
    entries: steps.map(({ entry }) => entry),
    puts: [
      { table: "accounts", row: lastOf(steps).account },
      ...[...transactions.values()].map((row): Put => ({ table: "transactions", row })),
      ...puts,
    ],
  };
  return limits === undefined ? effect : { ...effect, limits };
}
