import { slicesOf } from "../../../runtime/slices.js";
import { typedReferenceOf } from "../../domain/deposit.js";
import type { ReceiveDeposit } from "../../domain/deposits/receive-deposit.js";
import type { RailCommand } from "../../domain/operations.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { Actor } from "../../domain/values/actor.js";
import { readDepositReference } from "../../domain/values/deposit-reference.js";
import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RailPeriod, ReceivedPayment, ReceivedPayments, UncreditedRow, UnreadableRow } from "../../rails/rail.js";
import {
  CLOCKS_MILLIS,
  HELD_BACK_MILLIS_MAX,
  PAYMENTS_AT_ONCE,
  RECEIPTS_AT_ONCE,
  RESULT_MILLIS_MAX,
  SINCE_GRACE_MILLIS,
} from "../limits.js";
import type { BookedReceipt, Deposits, DueList } from "../ports/deposits.js";
import type { RailAccount } from "../ports/rail-accounts.js";
import type { OnEvent, SettlementTiming, Submit } from "../ports/runtime.js";
import { clockOf, type ListClock, timeOfRow } from "./list-clock.js";

export interface ListBookerOptions {
  readonly deposits: Deposits;
  readonly submit: Submit<RailCommand>;
  readonly newDepositId: () => DepositId;
  readonly newTransactionId: () => TransactionId;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/** A list of received payments that was read to its end. */
export interface ReadList {
  readonly list: DueList;
  readonly account: RailAccount;
  readonly period: RailPeriod;
  readonly received: Extract<ReceivedPayments, { kind: "complete" }>;
}

/** What became of the payments that the book lacked. */
type Booked = Readonly<Record<PaymentEnd, number>>;

/** The rows that the book lacks, as far as it knows, and that credit nobody. */
export interface NotCredited {
  readonly unreadable: readonly UnreadableRow[];
  /** They may be from before the registration: nobody knows in which zone their times are. */
  readonly unclear: readonly ReceivedPayment[];
  readonly others: readonly UncreditedRow[];
}

type PaymentEnd = "booked" | "heldBack" | "undecided";

/** Books the payments of a list that the book lacks. Only a list proves that shillings came in. */
export class ListBooker {
  readonly #options: ListBookerOptions;
  /** When a payment without a certain time was first seen, of those that are held back. */
  readonly #seenAt = new Map<RailAccountId, ReadonlyMap<string, UnixMillis>>();
  /** The zone of the times in a list, once a reading has told it. */
  readonly #clocks = new Map<RailAccountId, ListClock>();

  constructor(options: ListBookerOptions) {
    this.#options = options;
  }

  /**
   * Books what certainly came in since the registration. Stops before the next payments when the
   * signal aborts: the others are undecided then.
   */
  async book(read: ReadList, signal: AbortSignal): Promise<Booked & { readonly notCredited: NotCredited }> {
    const { list } = read;
    const { payments, ...notCredited } = await this.#unbooked(read);
    const now = this.#options.timing.now();
    const before = this.#seenAt.get(list.railAccountId);
    const seenAt = new Map(payments.map(({ receipt }) => [receipt, before?.get(receipt) ?? now]));
    this.#seenAt.set(list.railAccountId, seenAt);

    const counts = { booked: 0, heldBack: 0, undecided: 0 };
    const booked = new Set<string>();
    for (const some of slicesOf(payments, PAYMENTS_AT_ONCE)) {
      const ends = signal.aborted
        ? some.map(() => "undecided" as const)
        : await Promise.all(some.map((payment) => this.#receive(read, payment, seenAt.get(payment.receipt) ?? now)));
      for (const [index, end] of ends.entries()) {
        counts[end] += 1;
        const receipt = some[index]?.receipt;
        if (end === "booked" && receipt !== undefined) booked.add(receipt);
      }
    }
    const unreadable = notCredited.unreadable.filter(({ receipt }) => !booked.has(receipt ?? ""));
    return { ...counts, notCredited: { ...notCredited, unreadable } };
  }

  /** Leaves out what the book has, and what certainly came before the registration. */
  async #unbooked({ list, period, received }: ReadList): Promise<NotCredited & Pick<typeof received, "payments">> {
    const { payments, unreadable, others = [] } = received;
    const all = [...payments, ...unreadable, ...others];
    const booked = await this.#booked(list, all);
    const now = this.#options.timing.now();
    const clock = clockOf(all, { booked, now }) ?? this.#clocks.get(list.railAccountId);
    if (clock !== undefined) this.#clocks.set(list.railAccountId, clock);
    // A list has whole seconds, by the clock of the rail. The ledger books each receipt once.
    const since = list.since - SINCE_GRACE_MILLIS;
    const timed = <Row extends UnreadableRow>(rows: readonly Row[]) =>
      rows
        .filter(({ receipt }) => receipt === undefined || !booked.has(receipt))
        .map((row) => ({ row, time: timeOfRow(row, { clock, period, now }) }))
        .filter(({ time }) => time.latest >= since);
    const listed = timed(payments);
    const isClear = ({ time }: (typeof listed)[number]): boolean => time.earliest >= since;
    return {
      payments: listed.filter(isClear).map(({ row, time }) => ({ ...row, receivedAt: time.at })),
      unclear: listed.filter((each) => !isClear(each)).map(({ row }) => row),
      unreadable: timed(unreadable).map(({ row }) => row),
      others: timed(others).map(({ row }) => row),
    };
  }

  async #booked(
    { organizationId }: DueList,
    rows: readonly UnreadableRow[],
  ): Promise<ReadonlyMap<string, BookedReceipt>> {
    const found = new Map<string, BookedReceipt>();
    for (const some of slicesOf(rows, RECEIPTS_AT_ONCE)) {
      const receipts = some.flatMap(({ receipt }) => receipt ?? []);
      for (const [receipt, known] of await this.#options.deposits.bookedReceipts(organizationId, receipts)) {
        found.set(receipt, known);
      }
    }
    return found;
  }

  async #receive(
    { list, account, received }: ReadList,
    payment: ReceivedPayment,
    firstSeenAt: UnixMillis,
  ): Promise<PaymentEnd> {
    const { deposits, newDepositId, newTransactionId } = this.#options;
    const { railAccountId, organizationId } = list;
    const { idEnd, receivedAt, amountCents, phone } = payment;
    const orderId = idEnd === undefined ? undefined : await deposits.orderEndingWith(railAccountId, idEnd);
    const typedReference = typedReferenceOf(payment.reference);
    const isNamed = orderId !== undefined || readDepositReference(typedReference) !== undefined;
    if (!isNamed && (await this.#mayBeOfOrder(list, payment, firstSeenAt))) return "heldBack";
    const isSame = (other: ReceivedPayment): boolean => idEnd !== undefined && other.idEnd === idEnd;
    const { name } = account.rail;
    return this.#submit({
      name: "receiveDeposit",
      organizationId,
      actor: name as string as Actor,
      newDepositId: newDepositId(),
      newTransactionId: newTransactionId(),
      rail: name,
      railAccountId,
      receipt: payment.receipt,
      amountCents,
      typedReference,
      orderId,
      confirmedReceipts: received.payments.filter(isSame).map(({ receipt }) => receipt),
      phone,
      paidAt: receivedAt,
    });
  }

  /**
   * Whether the payment may be that of a push, whose reference the list does not show. Then the
   * order gets its receipt soon, and the payment is known.
   */
  async #mayBeOfOrder(
    { railAccountId }: DueList,
    { amountCents, receivedAt }: ReceivedPayment,
    firstSeenAt: UnixMillis,
  ): Promise<boolean> {
    const { deposits, timing } = this.#options;
    const at = receivedAt ?? firstSeenAt;
    if (timing.now() - at >= HELD_BACK_MILLIS_MAX) return false;
    return deposits.hasOrderWithoutReceipt({
      railAccountId,
      amountCents,
      acceptedFrom: toUnixMillis(at - HELD_BACK_MILLIS_MAX),
      acceptedTo: toUnixMillis(at + CLOCKS_MILLIS),
    });
  }

  async #submit(command: ReceiveDeposit): Promise<PaymentEnd> {
    const { submit, timing, onEvent } = this.#options;
    const { railAccountId, receipt } = command;
    try {
      const outcome = await submit(command, toUnixMillis(timing.now() + RESULT_MILLIS_MAX));
      // A flag that is up already, or another server's booking: nothing new.
      if (outcome.kind === "done") return outcome.replayed ? "heldBack" : "booked";
      onEvent({ kind: "payment not booked", railAccountId, receipt, code: outcome.refusal.reason });
    } catch (error) {
      onEvent({ kind: "error", error });
    }
    return "undecided";
  }
}
