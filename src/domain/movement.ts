import type { LedgerAccount } from "./account.js";
import { MAX_SUM_CENTS } from "./book.js";
import { type Book, type Effect, type Lookup, putIdempotencyKey, type UsedReceipt } from "./decision.js";
import type { SameNumber } from "./deposit.js";
import {
  balancesOf,
  creditPosting,
  holdPosting,
  mintPosting,
  postedTo,
  type Posting,
  redeemPosting,
} from "./journal.js";
import { limitsOfTier } from "./limits/limits.js";
import {
  counted,
  givenBack,
  type HeldMovement,
  holdReasons,
  type LimitsInForce,
  type ReachedLimit,
  reachedLimit,
  usageAt,
} from "./limits/usage.js";
import { type HoldByAmount, HOLDS_BY_AMOUNT, type RailReceipt } from "./payment.js";
import { numberOfRail, receiptsLike } from "./receipt.js";
import type { Refusal } from "./refusal.js";
import { DIRECT_RAIL, type Transaction } from "./transaction.js";
import type { Actor } from "./values/actor.js";
import { MAX_CENTS } from "./values/cents.js";
import type { AccountId, OrganizationId } from "./values/ids.js";
import { type IdempotencyKey, NO_REASON, type StatusReason } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

// The rules that every new mint and redemption follows, also one that reverses another transaction.

/** The fields of a new transaction that its command decides. */
export type NewTransaction = Pick<
  Transaction,
  | "id"
  | "organizationId"
  | "accountId"
  | "type"
  | "amountCents"
  | "reference"
  | "description"
  | "metadata"
  | "rail"
  | "railReceipt"
  | "corrects"
  | "depositId"
  | "destinationId"
> & {
  /** In place of the posting that follows from the type: for a transaction that is COMPLETED. */
  readonly posting?: Posting;
};

/** Returns the refusal of a movement on a closed or frozen account. */
export function refusalByStatus({ id: accountId, status }: LedgerAccount): Refusal | undefined {
  if (status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  if (status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };
  return undefined;
}

/** Names what `refusalByReceipt`, `refusalByNumber` and `sameNumberOf` read. */
export function needReceipt(rows: Lookup, organizationId: OrganizationId, receipt: RailReceipt | undefined): void {
  for (const name of receiptsLike(receipt)) rows.need("receipt", { organizationId, name });
  const number = numberOfRail(receipt);
  if (number !== undefined) rows.need("receiptNumber", { organizationId, name: number });
}

/** Returns the refusal of a receipt that the book has already. */
export function refusalByReceipt(
  book: Pick<Book, "receipt">,
  organizationId: OrganizationId,
  receipt: RailReceipt,
): Refusal | undefined {
  return refusalOf(book.receipt(organizationId, receipt));
}

/**
 * Returns the refusal of a receipt that a caller or a person attests, if the book has it already,
 * or has its number: from a rail, whatever the source, and from any source, if the receipt is that
 * of a rail. A source is a word of the caller, and the same shillings must not count twice.
 */
export function refusalByNumber(
  book: Pick<Book, "receipt" | "receiptOfOtherSource">,
  organizationId: OrganizationId,
  receipt: RailReceipt | undefined,
): Refusal | undefined {
  const [used] = receiptsLike(receipt).flatMap((each) => book.receipt(organizationId, each) ?? []);
  return refusalOf(used ?? usedByNumber(book, organizationId, receipt));
}

function refusalOf(used: UsedReceipt | undefined): Refusal | undefined {
  if (used === undefined) return undefined;
  const { receipt, transactionId, depositId } = used;
  return { reason: "RECEIPT_ALREADY_USED", receipt, transactionId, depositId };
}

/**
 * Returns what the book has from another source with the number of a rail's receipt. A rail's
 * report is never refused: a person decides whether it is about the same shillings.
 */
export function sameNumberOf(
  book: Pick<Book, "receiptOfOtherSource">,
  organizationId: OrganizationId,
  receipt: RailReceipt | undefined,
): SameNumber | undefined {
  const used = usedByNumber(book, organizationId, receipt);
  return used && { receipt: used.receipt, id: used.transactionId ?? used.depositId };
}

function usedByNumber(
  book: Pick<Book, "receiptOfOtherSource">,
  organizationId: OrganizationId,
  receipt: RailReceipt | undefined,
): UsedReceipt | undefined {
  const number = numberOfRail(receipt);
  return number === undefined ? undefined : book.receiptOfOtherSource(organizationId, number);
}

/**
 * Returns the refusal of a mint that would exceed a limit, or of a redemption of more than is
 * available.
 */
export function refusalByAmount(
  book: Pick<Book, "bookOf">,
  account: LedgerAccount,
  { type, amountCents }: Pick<Transaction, "type" | "amountCents">,
): Refusal | undefined {
  const { id: accountId, organizationId, availableCents, heldCents } = account;
  if (type === "REDEEM") {
    return amountCents > availableCents
      ? { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents }
      : undefined;
  }
  if (availableCents + heldCents + amountCents > MAX_CENTS) {
    return { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS };
  }
  // The reserve is at least as large as the sum of all available balances, unless shillings are
  // missing. So both are compared with the limit.
  const { reserve, available } = book.bookOf(organizationId).sums;
  return Math.max(reserve, available) > MAX_SUM_CENTS - amountCents
    ? { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS }
    : undefined;
}

/** A book as far as limits need it. */
interface LimitedBook {
  bookOf(organizationId: OrganizationId): { readonly limits: LimitsInForce | undefined };
}

type LimitedAccount = Pick<LedgerAccount, "id" | "organizationId" | "tier" | "usage">;

/** Returns the refusal of a movement that would exceed a limit, first of those of the account. */
export function refusalByLimits(
  book: LimitedBook,
  account: LimitedAccount,
  movement: Pick<Transaction, "type" | "amountCents">,
  now: UnixMillis,
): Refusal | undefined {
  const { limits } = book.bookOf(account.organizationId);
  if (limits === undefined) return undefined;
  const refusalBy = (accountId: AccountId | undefined, reached: ReachedLimit | undefined): Refusal | undefined => {
    if (reached === undefined) return undefined;
    const { limitCents, ...rest } = reached;
    return { reason: "LIMIT_EXCEEDED", accountId, limitCents, reached: rest };
  };
  return (
    refusalBy(account.id, reachedLimit(limitsOfTier(limits, account.tier), usageAt(account.usage, now), movement)) ??
    refusalBy(undefined, reachedLimit(limits.organization, usageAt(limits.usage, now), movement))
  );
}

/** Returns why a redemption must wait for a person, by the account's limits or others. */
export function holdReasonsOf(
  book: LimitedBook,
  account: LimitedAccount,
  redemption: HeldMovement,
  now: UnixMillis,
): readonly HoldByAmount[] {
  const { limits } = book.bookOf(account.organizationId);
  if (limits === undefined) return [];
  const found = [
    ...holdReasons(limitsOfTier(limits, account.tier), usageAt(account.usage, now), redemption),
    ...holdReasons(limits.organization, usageAt(limits.usage, now), redemption),
  ];
  return HOLDS_BY_AMOUNT.filter((reason) => found.includes(reason));
}

/** An account, and the limits of its organization, with a transaction counted or taken back. */
export interface Counted {
  readonly account: LedgerAccount;
  /** Undefined if the organization has no limits. */
  readonly limits: LimitsInForce | undefined;
}

/** Counts a transaction that is accepted now. A linked transaction must not come here. */
export function countedNow(
  book: Pick<Book, "bookOf">,
  account: LedgerAccount,
  movement: Pick<Transaction, "type" | "amountCents">,
  now: UnixMillis,
): Counted {
  const { limits } = book.bookOf(account.organizationId);
  if (limits === undefined) return { account, limits };
  return {
    account: { ...account, usage: counted(usageAt(account.usage, now), movement) },
    limits: { ...limits, usage: counted(usageAt(limits.usage, now), movement) },
  };
}

/** Takes back a transaction that failed, was canceled or is reversed, if it has counted. */
export function takenBack(
  book: Pick<Book, "bookOf">,
  account: LedgerAccount,
  transaction: Pick<Transaction, "type" | "amountCents" | "createdAt">,
  now: UnixMillis,
): Counted {
  const { limits } = book.bookOf(account.organizationId);
  if (limits === undefined || transaction.createdAt < limits.since) return { account, limits: undefined };
  return {
    account: { ...account, usage: givenBack(usageAt(account.usage, now), transaction) },
    limits: { ...limits, usage: givenBack(usageAt(limits.usage, now), transaction) },
  };
}

/**
 * Returns the effect of a new transaction. On the direct rail, and if it is about a deposit, it is
 * COMPLETED at once. On any other rail it is PENDING, and the KESC of a redemption is held.
 */
export function moved(
  { account, limits }: Counted,
  given: NewTransaction,
  {
    actor,
    idempotencyKey,
    now,
    reason = NO_REASON,
  }: { actor: Actor; idempotencyKey: IdempotencyKey | undefined; now: UnixMillis; reason?: StatusReason },
): { kind: "effect"; resource: Transaction; effect: Effect } {
  const completed = given.rail === DIRECT_RAIL || given.depositId !== undefined;
  const posting = postingOf(given, completed);
  const posted: LedgerAccount =
    posting === undefined ? account : { ...account, ...postedTo(account, posting), updatedAt: now };
  const { id, organizationId, accountId, type, amountCents, reference, description, metadata } = given;
  const { rail, railReceipt, corrects, depositId, destinationId } = given;
  const transaction: Transaction = {
    id,
    organizationId,
    accountId,
    type,
    status: completed ? "COMPLETED" : "PENDING",
    statusReason: reason,
    amountCents,
    reference,
    description,
    metadata,
    rail,
    railMovement: undefined,
    railReceipt,
    failure: undefined,
    openFlags: NO_FLAGS,
    heldFor: NO_HOLDS,
    corrects,
    depositId,
    destinationId,
    reversedById: undefined,
    availableAfterCents: completed ? posted.availableCents : undefined,
    createdAt: now,
    updatedAt: now,
    completedAt: completed ? now : undefined,
  };
  const effect: Effect = {
    entries: [
      {
        organizationId,
        accountId,
        transactionId: id,
        freezeId: undefined,
        kind: completed ? "transaction.completed" : "transaction.pending",
        posting,
        balancesAfter: balancesOf(posted),
        detail: undefined,
        // The receipt of a deposit stands on the row that has received it.
        receipt: type === "MINT" && depositId !== undefined ? undefined : railReceipt,
        actor,
        reason,
        recordedAt: now,
      },
    ],
    puts: [
      { table: "accounts", row: posted },
      { table: "transactions", row: transaction },
      ...putIdempotencyKey(idempotencyKey, transaction, now),
    ],
  };
  return { kind: "effect", resource: transaction, effect: limits === undefined ? effect : { ...effect, limits } };
}

const NO_FLAGS: Transaction["openFlags"] = [];
const NO_HOLDS: Transaction["heldFor"] = [];

function postingOf({ type, amountCents, depositId, posting }: NewTransaction, completed: boolean): Posting | undefined {
  if (posting !== undefined) return posting;
  if (depositId !== undefined) return creditPosting(amountCents);
  if (type === "REDEEM") return completed ? redeemPosting(amountCents) : holdPosting(amountCents);
  return completed ? mintPosting(amountCents) : undefined;
}
