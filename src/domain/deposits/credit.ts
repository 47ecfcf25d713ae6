import type { LedgerAccount } from "../account.js";
import { type BookHead, isWithinLimits, MAX_SUM_CENTS, postedToBook } from "../book.js";
import type { Book, Decision, Effect } from "../decision.js";
import { creditReference, type Deposit, depositDetail } from "../deposit.js";
import { type JournalEntry, returnPosting, unallocatedPosting } from "../journal.js";
import { countedNow, moved, refusalByAmount } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import type { Refusal } from "../refusal.js";
import type { Transaction } from "../transaction.js";
import type { Actor } from "../values/actor.js";
import type { Cents } from "../values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../values/ids.js";
import { type Description, type Metadata, type StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Who does something about a deposit, when, and in which words. */
export interface DepositAct {
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly now: UnixMillis;
}

/** A deposit, the transaction that concerns it, and what one commit writes of both. */
export interface DepositStep {
  readonly deposit: Deposit;
  readonly transaction: Transaction | undefined;
  readonly effect: Effect;
}

const NO_METADATA = new Map<string, string>() as ReadonlyMap<string, string> as Metadata;
/** The fields of a transaction that the service itself makes. */
export const NO_WORDS = { description: "" as Description, metadata: NO_METADATA } as const;

/** Makes an entry about a deposit that belongs to no account. */
export function depositEntry(
  deposit: Deposit,
  { actor, reason, now }: DepositAct,
  given: Pick<JournalEntry, "kind" | "posting" | "receipt">,
): JournalEntry {
  return {
    organizationId: deposit.organizationId,
    accountId: undefined,
    transactionId: undefined,
    freezeId: undefined,
    balancesAfter: undefined,
    detail: depositDetail(deposit),
    actor,
    reason,
    recordedAt: now,
    ...given,
  };
}

/** Books the shillings of a new deposit, which belong to no account yet. */
export function received(deposit: Deposit, act: DepositAct): DepositStep {
  const { receipt, amountCents } = deposit;
  const entry = depositEntry(deposit, act, {
    kind: "deposit.received",
    posting: unallocatedPosting(amountCents),
    receipt,
  });
  const effect: Effect = { entries: [entry], puts: [{ table: "deposits", row: deposit }] };
  return { deposit, transaction: undefined, effect };
}

/** Books that the shillings of a deposit that belongs to no account went out again. */
export function wentBack(
  deposit: Deposit,
  act: DepositAct,
  { to, receipt }: { readonly to: "RETURNED" | "REVERSED"; readonly receipt: RailReceipt },
): Decision<Deposit> {
  const row: Deposit = { ...deposit, status: to, reason: undefined, updatedAt: act.now };
  const kind = to === "RETURNED" ? "deposit.returned" : "deposit.reversed";
  const entry = depositEntry(row, act, { kind, posting: returnPosting(deposit.amountCents), receipt });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "deposits", row }] } };
}

/** Returns LIMIT_EXCEEDED if the book cannot take the shillings of a new deposit. */
export function refusalToReceive({ sums }: BookHead, amountCents: Cents): Refusal | undefined {
  return isWithinLimits(postedToBook(sums, unallocatedPosting(amountCents)))
    ? undefined
    : { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS };
}

/**
 * Returns why an account cannot get a deposit: ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED, LIMIT_EXCEEDED of
 * its balance or of the book. A frozen account is credited: the shillings have arrived. No limit of
 * amounts refuses it.
 */
export function refusalToCredit(
  book: Book,
  { organizationId, accountId, amountCents }: CreditedTo & Pick<Deposit, "amountCents">,
): Refusal | undefined {
  const account = book.account(organizationId, accountId);
  if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
  if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  return refusalByAmount(book, account, { type: "MINT", amountCents });
}

interface CreditedTo {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
}

/** Credits a deposit that is unallocated, by a mint which counts against the limits. */
export function credited(
  book: Pick<Book, "bookOf">,
  deposit: Deposit,
  { account, newTransactionId }: { readonly account: LedgerAccount; readonly newTransactionId: TransactionId },
  { actor, reason, now }: DepositAct,
): DepositStep {
  const { id: depositId, organizationId, amountCents, rail, receipt: railReceipt } = deposit;
  const movement = { type: "MINT", amountCents } as const;
  const mint = moved(
    countedNow(book, account, movement, now),
    {
      ...movement,
      ...NO_WORDS,
      id: newTransactionId,
      organizationId,
      accountId: account.id,
      reference: creditReference(deposit),
      rail,
      railReceipt,
      corrects: undefined,
      depositId,
      destinationId: undefined,
    },
    { actor, idempotencyKey: undefined, now, reason },
  );
  const row = creditedTo(deposit, mint.resource);
  return {
    deposit: row,
    transaction: mint.resource,
    effect: { ...mint.effect, puts: [...mint.effect.puts, { table: "deposits", row }] },
  };
}

/** The deposit after the mint has credited it. */
export function creditedTo(deposit: Deposit, { id, accountId, createdAt }: Transaction): Deposit {
  return {
    ...deposit,
    status: "CREDITED",
    reason: undefined,
    accountId,
    transactionId: id,
    credits: deposit.credits + 1,
    updatedAt: createdAt,
  };
}

/** Joins two steps of one deposit that follow each other in one commit. */
export function inOneCommit(first: DepositStep, second: DepositStep): DepositStep {
  return {
    ...second,
    effect: {
      ...second.effect,
      entries: [...first.effect.entries, ...second.effect.entries],
      // The deposit as it is after the second step replaces that after the first.
      puts: second.effect.puts,
    },
  };
}
