import type { LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
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
import { needReceipt, refusalByReceipt, sameNumberOf } from "../movement.js";
import { type CompletePayment, reported } from "../orders/complete-payment.js";
import { decideFlag } from "../orders/flag.js";
import { orderOf } from "../orders/order.js";
import type { RailAccountId, RailReceipt } from "../payment.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import type { Rail, Transaction } from "../transaction.js";
import { amountText, type Cents } from "../values/cents.js";
import { readDepositReference } from "../values/deposit-reference.js";
import type { DepositId, TransactionId } from "../values/ids.js";
import type { MaskedPhone } from "../values/masked-phone.js";
import { type IdempotencyKey, NO_REASON, type StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { accountByReference } from "./by-reference.js";
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
  needReceipt(rows, organizationId, receipt);
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
 *    of the rail. If it has counted another amount already, whose receipt nobody knows, it gets a
 *    flag, and nothing is counted a second time. Otherwise they become a deposit, ORDER_UNCLEAR,
 *    and an open order gets a flag, too: only a person completes it then.
 * 3. The book has the number of the receipt from another source, on a caller's word: they become a
 *    deposit, RECEIPT_ALREADY_USED, which names what has the number. An order with such a receipt
 *    takes nothing by rule 2, and gets a flag.
 * 4. The payer typed the reference of an account that can take the shillings within its limits:
 *    they become a deposit, which is credited in the same commit.
 * 5. Otherwise they become a deposit that waits for a person. Nothing tries again by itself.
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
  const taken = takenByOrder(book, command, now);
  if (taken?.kind === "effect" || taken?.kind === "replay") {
    return { ...taken, resource: { ...NOTHING, transaction: taken.resource } };
  }

  const refusal = refusalToReceive(head, amountCents);
  if (refusal !== undefined) return refuse(refusal);
  const act = { actor, reason: NO_REASON, now };
  const sameNumber = sameNumberOf(book, organizationId, receipt);
  const account = sameNumber === undefined ? accountOf(book, command, now) : "RECEIPT_ALREADY_USED";
  if (typeof account === "string") {
    const { deposit, effect } = received(depositOf(command, { reason: account, sameNumber, now }), act);
    const both = taken?.kind === "unclear" ? joined(effect, taken.flag) : effect;
    return { kind: "effect", resource: { ...NOTHING, deposit }, effect: keyed(both, command, deposit) };
  }
  const first = received(depositOf(command, { reason: undefined, sameNumber, now }), act);
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

type Taken =
  | Decision<Transaction>
  /** They become a deposit, and the order gets this flag. */
  | { readonly kind: "unclear"; readonly flag: Effect }
  /** They become a deposit. */
  | undefined;

/** Returns what the order makes of the shillings. */
function takenByOrder(book: Book, command: ReceiveDeposit, now: UnixMillis): Taken {
  const { organizationId, orderId, actor, newTransactionId, receipt, amountCents, phone } = command;
  const order = orderId === undefined ? undefined : orderOf(book, organizationId, orderId);
  if (orderId === undefined || order === undefined) return undefined;
  const { railAccountId, direction } = order.payment;
  const { transaction } = order;
  const all = [transaction, ...book.lateCorrections(organizationId, orderId)];
  // A person may have mistyped the receipt of these very shillings.
  const isConfirmed = all.every(
    ({ railReceipt: known }) => known === undefined || command.confirmedReceipts.includes(known),
  );
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
    isListed: true,
    reason: NO_REASON,
  };
  const outcome = reported(book, order, report, now);
  if (outcome.kind !== "not booked") return outcome;
  const reason = `the rail lists ${amountText(amountCents)} with receipt ${receipt}` as StatusReason;
  const flag = decideFlag(order, "REPORT_DIFFERS", { actor, reason, now });
  // A query has counted them, and told no amount. The list has these shillings once.
  const isCounted = all.some(
    ({ status, railMovement, railReceipt }) =>
      status === "COMPLETED" && railMovement !== undefined && railReceipt === undefined,
  );
  if (isCounted) return flag;
  return transaction.status === "PROCESSING" && flag.kind === "effect"
    ? { kind: "unclear", flag: flag.effect }
    : undefined;
}

/** The effects touch different rows. */
function joined(first: Effect, second: Effect): Effect {
  return { ...first, entries: [...first.entries, ...second.entries], puts: [...first.puts, ...second.puts] };
}

/** Returns the account to credit, or why there is none. */
function accountOf(book: Book, command: ReceiveDeposit, now: UnixMillis): LedgerAccount | DepositReason {
  const { typedReference, orderId } = command;
  if (orderId !== undefined) return "ORDER_UNCLEAR";
  if (typedReference === "") return "NO_REFERENCE";
  return accountByReference(book, command, readDepositReference(typedReference), now);
}

function depositOf(
  command: ReceiveDeposit,
  { reason, sameNumber, now }: Pick<Deposit, "reason" | "sameNumber"> & { readonly now: UnixMillis },
): Deposit {
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
    sameNumber,
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
