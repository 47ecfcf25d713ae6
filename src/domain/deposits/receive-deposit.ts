import type { LedgerAccount } from "../account.js";
import {
  type Book,
  type Decision,
  type Effect,
  type Lookup,
  type Operation,
  putIdempotencyKey,
  refuse,
  replay,
} from "../decision.js";
import type { Deposit, DepositReason, TypedReference } from "../deposit.js";
import { refusalByAmount, refusalByLimits, refusalByReceipt } from "../movement.js";
import { type CompletePayment, reported } from "../orders/complete-payment.js";
import { orderOf } from "../orders/order.js";
import type { RailAccountId, RailReceipt } from "../payment.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import type { Commanded } from "../second-person.js";
import type { Rail, Transaction } from "../transaction.js";
import type { Cents } from "../values/cents.js";
import { readDepositReference } from "../values/deposit-reference.js";
import type { DepositId, TransactionId } from "../values/ids.js";
import type { MaskedPhone } from "../values/masked-phone.js";
import { type IdempotencyKey, NO_REASON } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { credited, inOneCommit, received, refusalToReceive } from "./credit.js";

/** What shillings that came in have become: a deposit, or a payment of an order. */
export interface ReceivedShillings {
  readonly deposit: Deposit | undefined;
  /** The mint that credits the deposit, or that belongs to the order. */
  readonly transaction: Transaction | undefined;
}

/** Shillings that the rail says it has received for the organization. */
export interface ReceiveDeposit extends Commanded {
  readonly name: "receiveDeposit";
  readonly newDepositId: DepositId;
  /** The id of the mint that credits the deposit, or of a correction of the order. */
  readonly newTransactionId: TransactionId;
  readonly rail: Rail;
  readonly railAccountId: RailAccountId;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** Empty if the payer typed nothing. */
  readonly typedReference: TypedReference;
  /** The order of this account at the rail whose reference the payer typed. */
  readonly orderId: TransactionId | undefined;
  /** The receipts that the rail lists for the same reference. */
  readonly confirmedReceipts: readonly RailReceipt[];
  readonly phone: MaskedPhone | undefined;
  readonly paidAt: UnixMillis | undefined;
  /** Set if a caller creates the deposit, in a sandbox: its receipt is new, or the same again. */
  readonly creation?: { readonly idempotencyKey: IdempotencyKey | undefined };
}

export const receiveDeposit: Operation<ReceiveDeposit, ReceivedShillings> = { lookup, decide, inSuspension: "always" };

const NOTHING: ReceivedShillings = { deposit: undefined, transaction: undefined };

function lookup(command: ReceiveDeposit, rows: Lookup): void {
  const { organizationId, receipt, typedReference, orderId, creation } = command;
  const key = creation?.idempotencyKey;
  if (key !== undefined) rows.need("idempotencyKeyOfDeposit", { organizationId, name: key });
  const reference = readDepositReference(typedReference);
  rows.need("receipt", { organizationId, name: receipt });
  if (reference !== undefined) rows.need("accountWithDepositReference", { organizationId, name: reference });
  if (orderId !== undefined) rows.need("order", orderId);
}

/**
 * Books shillings that the rail says it has received. The command must come from the rail's own
 * list: a message that somebody sent proves nothing.
 *
 * The first rule that fits decides:
 *
 * 1. The book has the receipt: a replay.
 * 2. The payer typed the reference of an order: the order takes the shillings, as from any report
 *    of the rail. Where the report would only raise a flag, they become a deposit, ORDER_UNCLEAR.
 * 3. The payer typed the reference of an account that can take the shillings within its limits:
 *    they become a deposit, which is credited in the same commit.
 * 4. Otherwise they become a deposit that waits for a person. Nothing tries again by itself.
 *
 * Refuses, in this order: BOOK_RESTORED, LIMIT_EXCEEDED of the organization's book. Then the list
 * is read again later. A caller's creation is refused with IDEMPOTENCY_KEY_REUSED and
 * RECEIPT_ALREADY_USED before these, and never with BOOK_RESTORED.
 */
function decide(book: Book, command: ReceiveDeposit, now: UnixMillis): Decision<ReceivedShillings> {
  const { organizationId, receipt, amountCents, actor, creation } = command;
  const repeated =
    creation &&
    decideRepeat(
      COMPARISON,
      { book, command: { ...command, ...creation }, now },
      {
        withId: (id) => book.deposit(organizationId, id as DepositId),
        existing: book.depositWithReceipt(organizationId, receipt),
        refusal: ({ id: depositId }) => ({
          reason: "RECEIPT_ALREADY_USED",
          receipt,
          transactionId: undefined,
          depositId,
        }),
      },
    );
  if (repeated?.kind === "refusal") return repeated;
  if (repeated !== undefined) return { ...repeated, resource: { ...NOTHING, deposit: repeated.resource } };
  const used = refusalByReceipt(book, organizationId, receipt);
  if (used !== undefined && creation !== undefined) return refuse(used);
  if (used !== undefined) return replay({ ...NOTHING, deposit: book.depositWithReceipt(organizationId, receipt) });
  const head = book.bookOf(organizationId);
  // The copy may lack what was spent of a deposit, and would credit it a second time.
  if (head.state === "RESTORED" && creation === undefined) return refuse({ reason: "BOOK_RESTORED" });
  const ofOrder = takenByOrder(book, command, now);
  if (ofOrder !== undefined && ofOrder.kind !== "refusal") {
    return { ...ofOrder, resource: { ...NOTHING, transaction: ofOrder.resource } };
  }

  const refusal = refusalToReceive(head, amountCents);
  if (refusal !== undefined) return refuse(refusal);
  const act = { actor, reason: NO_REASON, now };
  const account = accountOf(book, command, now);
  if (typeof account === "string") {
    const { deposit, effect } = received(depositOf(command, account, now), act);
    return { kind: "effect", resource: { ...NOTHING, deposit }, effect: keyed(effect, command, deposit) };
  }
  const first = received(depositOf(command, undefined, now), act);
  const { newTransactionId } = command;
  const second = credited(book, first.deposit, { account, newTransactionId }, act);
  const { deposit, transaction, effect } = inOneCommit(first, second);
  return { kind: "effect", resource: { deposit, transaction }, effect: keyed(effect, command, deposit) };
}

function keyed(effect: Effect, { creation }: ReceiveDeposit, deposit: Deposit): Effect {
  const puts = putIdempotencyKey(creation?.idempotencyKey, deposit, deposit.createdAt);
  return { ...effect, puts: [...effect.puts, ...puts] };
}

const COMPARISON: Comparison<ReceiveDeposit, Deposit> = {
  rail: "no content",
  railAccountId: "no content",
  orderId: "no content",
  confirmedReceipts: "no content",
  paidAt: "no content",
  creation: "no content",
  receipt: ["receipt", ({ receipt }, existing) => receipt === existing.receipt],
  amountCents: ["amount", ({ amountCents }, existing) => amountCents === existing.amountCents],
  typedReference: ["typed_reference", (command, { typedReference = "" }) => command.typedReference === typedReference],
  phone: ["payer_phone_number", ({ phone }, { maskedPhone }) => phone === maskedPhone],
};

/** Returns what the order makes of the shillings. Undefined if it cannot take them. */
function takenByOrder(book: Book, command: ReceiveDeposit, now: UnixMillis): Decision<Transaction> | undefined {
  const { organizationId, orderId, actor, newTransactionId, receipt, amountCents, phone } = command;
  const order = orderId === undefined ? undefined : orderOf(book, organizationId, orderId);
  if (orderId === undefined || order === undefined) return undefined;
  const { railAccountId, direction } = order.payment;
  const { transaction } = order;
  const receipts = [transaction, ...book.lateCorrections(organizationId, orderId)].map((each) => each.railReceipt);
  // A person may have mistyped the receipt of these very shillings.
  const isConfirmed = receipts.every((each) => each === undefined || command.confirmedReceipts.includes(each));
  if (railAccountId !== command.railAccountId || direction !== "MINT" || !isConfirmed) return undefined;
  if (transaction.failure === "REPORT_DIFFERS") return undefined;
  const report: CompletePayment = {
    name: "completePayment",
    organizationId,
    actor,
    transactionId: orderId,
    newTransactionId,
    movement: undefined,
    receipt,
    amountCents,
    phone,
    reason: NO_REASON,
  };
  const outcome = reported(book, order, report, now);
  return outcome.kind === "not booked" ? undefined : outcome;
}

/** Returns the account to credit, or why there is none. */
function accountOf(book: Book, command: ReceiveDeposit, now: UnixMillis): LedgerAccount | DepositReason {
  const { organizationId, typedReference, orderId, amountCents } = command;
  if (orderId !== undefined) return "ORDER_UNCLEAR";
  if (typedReference === "") return "NO_REFERENCE";
  const reference = readDepositReference(typedReference);
  const account = reference === undefined ? undefined : book.accountWithDepositReference(organizationId, reference);
  if (account === undefined) return "UNKNOWN_REFERENCE";
  if (account.status === "CLOSED") return "ACCOUNT_CLOSED";
  const movement = { type: "MINT", amountCents } as const;
  const refusal = refusalByAmount(book, account, movement) ?? refusalByLimits(book, account, movement, now);
  return refusal === undefined ? account : "LIMIT_EXCEEDED";
}

function depositOf(command: ReceiveDeposit, reason: DepositReason | undefined, now: UnixMillis): Deposit {
  const { typedReference } = command;
  return {
    id: command.newDepositId,
    organizationId: command.organizationId,
    rail: command.rail,
    railAccountId: command.railAccountId,
    receipt: command.receipt,
    amountCents: command.amountCents,
    status: "UNALLOCATED",
    reason,
    accountId: undefined,
    transactionId: undefined,
    credits: 0,
    typedReference: typedReference === "" ? undefined : typedReference,
    maskedPhone: command.phone,
    paidAt: command.paidAt,
    createdAt: now,
    updatedAt: now,
  };
}
