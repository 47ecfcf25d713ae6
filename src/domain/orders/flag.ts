import type { LedgerAccount } from "../account.js";
import type { Decision } from "../decision.js";
import { replay } from "../decision.js";
import type { FlagReason } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { Actor } from "../values/actor.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { effectOf, type PostedStep, postedStep } from "./step.js";

export interface Flagging {
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly now: UnixMillis;
}

/** Raises a flag that is not up yet. */
export function flagged(
  { transaction, account }: { transaction: Transaction; account: LedgerAccount },
  flag: FlagReason,
  { actor, reason, now }: Flagging,
): PostedStep {
  const changed: Transaction = { ...transaction, openFlags: [...transaction.openFlags, flag], updatedAt: now };
  return postedStep({ transaction: changed, account, kind: "transaction.flagged", actor, reason, detail: flag });
}

/** Whether a report has contradicted the order, or another report. */
export function isContradicted({ openFlags }: Transaction): boolean {
  return openFlags.includes("REPORT_DIFFERS") || openFlags.includes("RECEIPT_ALREADY_USED");
}

/** Whether a report says that shillings moved, and the book did not take them for the order. */
export function mayHaveMoved({ openFlags }: Pick<Transaction, "openFlags">): boolean {
  return openFlags.some((flag) => flag !== "OUTCOME_UNKNOWN");
}

/** Decides that a person must look at the transaction. A flag that is up already is a replay. */
export function decideFlag(
  order: { transaction: Transaction; account: LedgerAccount },
  flag: FlagReason,
  flagging: Flagging,
): Decision<Transaction> {
  if (order.transaction.openFlags.includes(flag)) return replay(order.transaction);
  const step = flagged(order, flag, flagging);
  return { kind: "effect", resource: step.transaction, effect: effectOf([step]) };
}
