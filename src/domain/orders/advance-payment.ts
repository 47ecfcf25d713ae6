import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Payment, RailReference } from "../payment.js";
import type { Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";
import { orderOf } from "./order.js";

/** What the rail answered to the request of an order. */
export type AdvancePayment = Commanded & {
  readonly transactionId: TransactionId;
  readonly nextCheckAt: UnixMillis;
} & (
    | { readonly name: "acceptPayment"; readonly railReference: RailReference | undefined }
    | {
        readonly name: "postponePayment";
        /** Which request it was: the payment's `sends` when it was allowed. */
        readonly sends: number;
        /** Whether the rail turned it away because of its load, and may have taken it. */
        readonly isTurnedAway: boolean;
      }
  );

export const advancePayment: Operation<AdvancePayment, Transaction> = { lookup, decide, inSuspension: "always" };

function lookup({ transactionId }: AdvancePayment, rows: Lookup): void {
  rows.need("payment", transactionId);
}

/**
 * Records the rail's answer to a request. `acceptPayment`: the rail has the order. That also holds
 * if an earlier request seemed not to have reached it. `postponePayment`: the request is proven not
 * to have reached the rail, or the rail turned it away, so the payment is READY again. Its
 * transaction stays PROCESSING and cannot be canceled any more.
 *
 * An answer that says nothing new is a replay.
 *
 * Refuses: TRANSACTION_NOT_FOUND.
 */
function decide(book: Book, command: AdvancePayment, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId } = command;
  const order = orderOf(book, organizationId, transactionId);
  if (order === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const { transaction, payment } = order;
  const row = command.name === "acceptPayment" ? accepted(payment, command, now) : postponed(payment, command, now);
  if (row === undefined) return replay(transaction);
  return { kind: "effect", resource: transaction, effect: { entries: [], puts: [{ table: "payments", row }] } };
}

function accepted(
  payment: Payment,
  { railReference, nextCheckAt }: AdvancePayment & { name: "acceptPayment" },
  now: UnixMillis,
): Payment | undefined {
  if (payment.state === "ENDED" || payment.begunAt === undefined) return undefined;
  const isNamed = payment.railReference === undefined && railReference !== undefined;
  if (payment.state === "ACCEPTED" && !isNamed) return undefined;
  return {
    ...payment,
    state: "ACCEPTED",
    railReference: payment.railReference ?? railReference,
    dueAt: nextCheckAt,
    updatedAt: now,
  };
}

function postponed(
  payment: Payment,
  { sends, isTurnedAway, nextCheckAt }: AdvancePayment & { name: "postponePayment" },
  now: UnixMillis,
): Payment | undefined {
  // A later request is on its way. That an earlier one did not arrive says nothing about it.
  if (payment.state !== "SENDING" || payment.sends !== sends) return undefined;
  const turnedAway = payment.turnedAway + (isTurnedAway ? 1 : 0);
  return { ...payment, state: "READY", turnedAway, dueAt: nextCheckAt, updatedAt: now };
}
