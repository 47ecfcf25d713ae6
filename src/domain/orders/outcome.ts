import type { LedgerAccount } from "../account.js";
import { type BookSums, isWithinLimits, postedToBook } from "../book.js";
import {
  burnPosting,
  detailBy,
  mintPosting,
  type Posting,
  redeemPosting,
  releasePosting,
  shortfallPosting,
  unallocatedPosting,
} from "../journal.js";
import type { FailureReason, RailProof } from "../payment.js";
import type { Decider } from "../proposal.js";
import type { Transaction } from "../transaction.js";
import type { Actor } from "../values/actor.js";
import { type Cents, MAX_CENTS } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import { type Description, type Metadata, NO_REASON, type Reference, type StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { flagged } from "./flag.js";
import { type PostedStep, postedStep, type Steps } from "./step.js";

/** Who says how an order ended, and when. */
export interface Attribution {
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly now: UnixMillis;
  /** The persons who decided it, if persons did. */
  readonly persons?: readonly Decider[];
}

interface OpenOrder {
  readonly transaction: Transaction;
  /** The account without the payment that ends. */
  readonly account: LedgerAccount;
}

/**
 * Completes a transaction whose shillings have moved. Returns undefined if the organization's book
 * would exceed its limit.
 */
export function completed(
  { transaction, account }: OpenOrder,
  { movement, receipt }: RailProof,
  { sums, ...attribution }: Attribution & { sums: BookSums },
): Steps | undefined {
  const { type, amountCents } = transaction;
  const posting = type === "MINT" ? incomingPosting(sums, account, amountCents) : burnPosting(amountCents);
  if (posting === undefined) return undefined;
  const changed: Transaction = {
    ...transaction,
    status: "COMPLETED",
    statusReason: attribution.reason,
    railMovement: movement,
    railReceipt: receipt,
    openFlags: [],
    heldFor: [],
    updatedAt: attribution.now,
    completedAt: attribution.now,
  };
  return booked({ transaction: changed, account }, posting, attribution);
}

/** Ends a transaction for which no shillings have moved, and releases the hold of a redemption. */
export function failed(
  { transaction, account }: OpenOrder,
  failure: FailureReason,
  attribution: Attribution,
): PostedStep {
  const { actor, reason, now, persons } = attribution;
  const changed: Transaction = {
    ...transaction,
    status: "FAILED",
    statusReason: reason,
    failure,
    openFlags: [],
    heldFor: [],
    updatedAt: now,
  };
  const posting = transaction.type === "REDEEM" ? releasePosting(transaction.amountCents) : undefined;
  const detail = detailBy(failure, persons);
  return postedStep({ transaction: changed, account, kind: "transaction.failed", posting, actor, reason, detail });
}

/** A movement that no open transaction expects. */
export interface LateMovement {
  readonly newTransactionId: TransactionId;
  readonly proof: RailProof;
  readonly amountCents: Cents;
}

/**
 * Books a movement that an ended transaction did not have, as a transaction of its own that is
 * COMPLETED at once. Returns undefined if the organization's book would exceed its limit.
 */
export function movedLate(
  { transaction: original, account }: OpenOrder,
  { newTransactionId, proof, amountCents }: LateMovement,
  { sums, ...attribution }: Attribution & { sums: BookSums },
): Steps | undefined {
  const { organizationId, accountId, type, rail } = original;
  const posting =
    type === "MINT" ? incomingPosting(sums, account, amountCents) : outgoingPosting(sums, account, amountCents);
  if (posting === undefined) return undefined;
  const { now } = attribution;
  const transaction: Transaction = {
    id: newTransactionId,
    organizationId,
    accountId,
    type,
    status: "COMPLETED",
    statusReason: NO_REASON,
    amountCents,
    reference: lateReference(proof),
    description: "" as Description,
    metadata: NO_METADATA,
    rail,
    railMovement: proof.movement,
    railReceipt: proof.receipt,
    failure: undefined,
    openFlags: [],
    heldFor: [],
    corrects: { kind: "LATE", transactionId: original.id },
    depositId: undefined,
    destinationId: undefined,
    reversedById: undefined,
    availableAfterCents: undefined,
    createdAt: now,
    updatedAt: now,
    completedAt: now,
  };
  return booked({ transaction, account }, posting, { ...attribution, reason: NO_REASON });
}

const NO_METADATA = new Map<string, string>() as ReadonlyMap<string, string> as Metadata;

/**
 * The reference of a late movement. A caller cannot choose such a reference. It says which of the
 * two it names, because a movement and a receipt can have the same text.
 */
function lateReference({ movement, receipt }: RailProof): Reference {
  return (movement === undefined ? `kesc:late:receipt:${receipt}` : `kesc:late:movement:${movement}`) as Reference;
}

function booked(
  { transaction, account }: OpenOrder,
  posting: Posting,
  { actor, reason, now, persons }: Attribution,
): Steps {
  const { corrects, railReceipt: receipt } = transaction;
  const detail = detailBy(corrects?.kind, persons);
  const step = postedStep({
    transaction,
    account,
    kind: "transaction.completed",
    posting,
    actor,
    reason,
    detail,
    receipt,
  });
  if (posting.credit !== "unallocated") return [step];
  return [step, flagged(step, "NOT_CREDITED", { actor, reason: NO_REASON, now })];
}

/** Credits the account, also a frozen one. Shillings that it cannot take belong to no account. */
function incomingPosting(sums: BookSums, account: LedgerAccount, amountCents: Cents): Posting | undefined {
  const { status, availableCents, heldCents } = account;
  const canTake = status !== "CLOSED" && availableCents + heldCents + amountCents <= MAX_CENTS;
  const credited = canTake ? within(sums, mintPosting(amountCents)) : undefined;
  return credited ?? within(sums, unallocatedPosting(amountCents));
}

/** The account pays for what the rail has paid out. If it cannot, nobody does: a shortfall. */
function outgoingPosting(sums: BookSums, account: LedgerAccount, amountCents: Cents): Posting | undefined {
  const canPay = account.availableCents >= amountCents;
  return within(sums, canPay ? redeemPosting(amountCents) : shortfallPosting(amountCents));
}

/** Returns the posting if every sum stays within its limit. */
function within(sums: BookSums, posting: Posting): Posting | undefined {
  return isWithinLimits(postedToBook(sums, posting)) ? posting : undefined;
}
