import type { LedgerAccount } from "../account.js";
import type { Authorized, NewIds } from "../authority.js";
import { BookAfter, type PartBook } from "../book-after.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Deposit, DepositReason, TypedReference } from "../deposit.js";
import type { JournalEntry } from "../journal.js";
import { needReceipt, refusalByReceipt, sameNumberOf } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { correctAloneMaxCents } from "../rail-account.js";
import { sourceAndNumber } from "../receipt.js";
import type { Refusal } from "../refusal.js";
import { isOfPlace } from "../reserve.js";
import { withSecondPerson } from "../second-person.js";
import { BANK_RAIL, type Rail } from "../transaction.js";
import { amountText, type Cents } from "../values/cents.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { accountByReference } from "./by-reference.js";
import { credited, type DepositAct, type DepositStep, inOneCommit, received, refusalToReceive } from "./credit.js";

/** A pay-in of a statement. A proposal keeps it for ever, so it has no personal data. */
export interface PayIn {
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** What the payer typed, if an account can have it. Payers type names and phone numbers, too. */
  readonly reference: DepositReference | "NONE" | "UNREADABLE";
  readonly paidAt?: UnixMillis | undefined;
}

/** Records what came in while the rail's reports were lost: on the word of an operator. */
export interface RecordDeposits extends Authorized {
  readonly name: "recordDeposits";
  /** The rail that took the pay-ins in, and gave their receipts. */
  readonly rail: Rail;
  /** At most `PARTS_MAX`, and each receipt once. */
  readonly payIns: readonly PayIn[];
  readonly note: StatusReason;
  /** New ids for each of the pay-ins, in their order. */
  readonly facts: { readonly ofParts: readonly NewIds[] };
}

/** What the act has made of its pay-ins, in their order. */
export interface RecordedDeposits {
  readonly recorded: readonly RecordedPayIn[];
}

export type RecordedPayIn =
  | { readonly payIn: PayIn; readonly deposit: Deposit; readonly isNew: true }
  /** The book had the receipt before. It may be that of something else than a deposit. */
  | { readonly payIn: PayIn; readonly deposit: Deposit | undefined; readonly isNew: false };

const operation: Operation<RecordDeposits, RecordedDeposits> = { lookup, decide };

export const recordDeposits = withSecondPerson(operation, {
  maxCents: ({ organizationId }, book) => correctAloneMaxCents(book.railAccounts(organizationId)),
  partCents: ({ kind, posting }: JournalEntry) => (kind === "deposit.received" ? posting?.amountCents : undefined),
  // Whatever comes in meanwhile: a pay-in whose receipt the book has is passed over.
  changesOf: ({ rail, payIns }) =>
    changes(
      ["pay-ins", "", `${String(payIns.length)} of ${rail}, together ${amountText(sumOf(payIns))}`],
      ...payIns.map(({ receipt, amountCents, reference }) => {
        return [receipt, "", `${amountText(amountCents)}, ${referenceWords(reference)}`] as const;
      }),
    ),
  touchedBy: NOTHING_TOUCHES,
});

function lookup({ organizationId, rail, payIns }: RecordDeposits, rows: Lookup): void {
  if (rail === BANK_RAIL) rows.need("reservePlaces", organizationId);
  for (const { receipt, reference } of payIns) {
    needReceipt(rows, organizationId, receipt);
    if (isReference(reference)) rows.need("accountWithDepositReference", { organizationId, name: reference });
  }
}

/**
 * Records pay-ins in one commit, each as the report of the rail would: the account whose reference
 * the payer typed is credited, and every other pay-in becomes a deposit that waits. A pay-in whose
 * receipt the book has is passed over. Without any other it is a replay.
 *
 * Refuses, in this order: RESERVE_PLACE_NOT_FOUND (a pay-in of a misspelled place would be credited
 * a second time), LIMIT_EXCEEDED of the book.
 */
function decide(book: Book, command: RecordDeposits, now: UnixMillis): Decision<RecordedDeposits> {
  const { organizationId, rail, payIns } = command;
  const isUnknown = ({ receipt }: PayIn): boolean => !isOfPlace(book.reservePlaces(organizationId), receipt);
  const unknown = rail === BANK_RAIL ? payIns.find(isUnknown) : undefined;
  if (unknown !== undefined) {
    return refuse({ reason: "RESERVE_PLACE_NOT_FOUND", place: sourceAndNumber(unknown.receipt).source });
  }
  const after = new BookAfter(book);
  const recorded: RecordedPayIn[] = [];
  for (const [index, payIn] of payIns.entries()) {
    const { receipt } = payIn;
    if (refusalByReceipt(after, organizationId, receipt) !== undefined) {
      recorded.push({ payIn, deposit: book.depositWithReceipt(organizationId, receipt), isNew: false });
      continue;
    }
    const step = recordedAs(after, depositOf(book, command, { payIn, index, now }), { command, index, payIn, now });
    if ("reason" in step) return refuse(step);
    after.take(step.effect);
    recorded.push({ payIn, deposit: step.deposit, isNew: true });
  }
  if (!recorded.some(({ isNew }) => isNew)) return replay({ recorded });
  return { kind: "effect", resource: { recorded }, effect: after.effect() };
}

interface RecordedPart {
  readonly payIn: PayIn;
  readonly index: number;
  readonly now: UnixMillis;
}

function recordedAs(
  book: PartBook,
  deposit: Deposit,
  { command, payIn: { reference }, index, now }: RecordedPart & { readonly command: RecordDeposits },
): DepositStep | Refusal {
  const { organizationId, actor, note: reason } = command;
  const refusal = refusalToReceive(book.bookOf(organizationId), deposit.amountCents);
  if (refusal !== undefined) return refusal;
  const act: DepositAct = { actor, reason, now };
  const account = accountOf(book, deposit, reference, now);
  if (typeof account === "string") return received({ ...deposit, reason: account }, act);
  const first = received(deposit, act);
  const { newTransactionId } = idsOf(command, index);
  return inOneCommit(first, credited(book, first.deposit, { account, newTransactionId }, act));
}

function accountOf(
  book: PartBook,
  deposit: Deposit,
  reference: PayIn["reference"],
  now: UnixMillis,
): LedgerAccount | DepositReason {
  if (deposit.sameNumber !== undefined) return "RECEIPT_ALREADY_USED";
  if (reference === "NONE") return "NO_REFERENCE";
  return accountByReference(book, deposit, isReference(reference) ? reference : undefined, now);
}

function depositOf(book: Book, command: RecordDeposits, { payIn, index, now }: RecordedPart): Deposit {
  const { organizationId, rail } = command;
  const { receipt, amountCents, reference, paidAt } = payIn;
  return {
    id: idsOf(command, index).newDepositId,
    organizationId,
    rail,
    railAccountId: book.railAccounts(organizationId).find((account) => account.rail === rail)?.id,
    receipt,
    amountCents,
    status: "UNALLOCATED",
    reason: undefined,
    sameNumber: sameNumberOf(book, organizationId, receipt),
    accountId: undefined,
    transactionId: undefined,
    credits: 0,
    typedReference: isReference(reference) ? (reference as string as TypedReference) : undefined,
    maskedPhone: undefined,
    paidAt,
    createdAt: now,
    updatedAt: now,
  };
}

/** Throws if the caller has made fewer ids than the command has parts. */
function idsOf({ facts: { ofParts } }: RecordDeposits, index: number): NewIds {
  const ids = ofParts[index];
  if (ids === undefined) throw new Error(`the command has no ids for its part ${String(index)}`);
  return ids;
}

function isReference(reference: PayIn["reference"]): reference is DepositReference {
  return reference !== "NONE" && reference !== "UNREADABLE";
}

function referenceWords(reference: PayIn["reference"]): string {
  return isReference(reference) ? `for ${reference}` : reference === "NONE" ? "without a reference" : "for no account";
}

function sumOf(payIns: readonly PayIn[]): number {
  return payIns.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
