import { slicesOf } from "../../../runtime/slices.js";
import { typedReferenceOf } from "../../domain/deposit.js";
import type { ReceiveDeposit } from "../../domain/deposits/receive-deposit.js";
import type { RailCommand } from "../../domain/operations.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { Actor } from "../../domain/values/actor.js";
import { readDepositReference } from "../../domain/values/deposit-reference.js";
import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { ReceivedPayment, UnreadableRow } from "../../rails/rail.js";
import {
  CLOCKS_MILLIS,
  HELD_BACK_MILLIS_MAX,
  PAYMENTS_AT_ONCE,
  RECEIPTS_AT_ONCE,
  RESULT_MILLIS_MAX,
} from "../limits.js";
import type { Deposits, DueList } from "../ports/deposits.js";
import type { RailAccount } from "../ports/rail-accounts.js";
import type { OnEvent, SettlementTiming, Submit } from "../ports/runtime.js";

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
  readonly payments: readonly ReceivedPayment[];
}

/** What became of the payments that the book lacked. */
export type Booked = Readonly<Record<PaymentEnd, number>>;

type PaymentEnd = "booked" | "heldBack" | "undecided";

/** Books the payments of a list that the book lacks. Only a list proves that shillings came in. */
export class ListBooker {
  readonly #options: ListBookerOptions;
  /** When a payment without a certain time was first seen, of those that are held back. */
  readonly #seenAt = new Map<RailAccountId, ReadonlyMap<string, UnixMillis>>();

  constructor(options: ListBookerOptions) {
    this.#options = options;
  }

  /** Stops before the next payments when the signal aborts: the others are undecided then. */
  async book(read: ReadList, signal: AbortSignal): Promise<Booked> {
    const { list, payments } = read;
    const unbooked = await this.#unbooked(list, payments);
    const now = this.#options.timing.now();
    const before = this.#seenAt.get(list.railAccountId);
    const seenAt = new Map(unbooked.map(({ receipt }) => [receipt, before?.get(receipt) ?? now]));
    this.#seenAt.set(list.railAccountId, seenAt);

    const counts = { booked: 0, heldBack: 0, undecided: 0 };
    for (const some of slicesOf(unbooked, PAYMENTS_AT_ONCE)) {
      const ends = signal.aborted
        ? some.map(() => "undecided" as const)
        : await Promise.all(some.map((payment) => this.#receive(read, payment, seenAt.get(payment.receipt) ?? now)));
      for (const end of ends) counts[end] += 1;
    }
    return counts;
  }

  /** Returns the rows that a person must look at: the book lacks them, as far as it knows. */
  notBooked(list: DueList, rows: readonly UnreadableRow[]): Promise<readonly UnreadableRow[]> {
    return this.#unbooked(list, rows);
  }

  /** Leaves out what the book has, and what certainly came before the registration. */
  async #unbooked<Row extends UnreadableRow>(
    { organizationId, since }: DueList,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    const taken = rows.filter(({ receivedAt }) => receivedAt === undefined || receivedAt >= since);
    const found: Row[] = [];
    for (const some of slicesOf(taken, RECEIPTS_AT_ONCE)) {
      const receipts = some.flatMap(({ receipt }) => receipt ?? []);
      const unbooked = await this.#options.deposits.unbooked(organizationId, receipts);
      found.push(...some.filter(({ receipt }) => receipt === undefined || unbooked.has(receipt)));
    }
    return found;
  }

  async #receive(
    { list, account, payments }: ReadList,
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
      confirmedReceipts: payments.filter(isSame).map(({ receipt }) => receipt),
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
      if (outcome.kind === "done") return "booked";
      onEvent({ kind: "payment not booked", railAccountId, receipt, code: outcome.refusal.reason });
    } catch (error) {
      onEvent({ kind: "error", error });
    }
    return "undecided";
  }
}
