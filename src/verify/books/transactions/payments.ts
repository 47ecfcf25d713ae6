import { type DestinationKind, type DestinationNumber, maskNumber } from "../../../domain/destination.js";
import type { RowOf } from "../../../model/column.js";
import type { PAYMENTS } from "../../../model/transactions.js";
import type { Place } from "../../findings.js";
import type { AuditedBook } from "../book.js";
import { decryptedIn } from "../content.js";

const COMPARED = [
  "state",
  "direction",
  "number_kind",
  "phone_number",
  "masked_phone",
  "begun_at",
  "sends",
  "updated_at",
] as const satisfies readonly (keyof AuditedPaymentRow)[];

type AuditedPaymentRow = RowOf<typeof PAYMENTS>;

/** The columns of the row of `payments` that belongs to a transaction. All are null without one. */
export type PaymentColumns = {
  readonly [Name in Exclude<(typeof COMPARED)[number], "state"> as `payment_${Name}`]: AuditedPaymentRow[Name];
} & { readonly payment_state: string | null };

/** The SQL of these columns of `payments p`. */
export const PAYMENT_COLUMNS = COMPARED.map((name) => `p.${name} AS payment_${name}`).join(", ");

/** What the journal says about the transaction of a payment. */
export interface PaymentFacts {
  /** The id of the transaction. */
  readonly id: string;
  /** It is part of the content that the first row has the hash of. */
  readonly type: string;
  /** The kind of the destination that the transaction names. Null if it names none. */
  readonly destinationKind: string | null;
  readonly book: AuditedBook;
  /** The `seq` of the transaction's last row. */
  readonly seq: number | undefined;
  /** Whether a row gave the transaction to a rail. */
  readonly isOrder: boolean;
  readonly status: string | undefined;
  /** When the rail was first asked. */
  readonly processingAt: number | null;
  readonly createdAt: number | undefined;
}

/** The states that a payment can have, by the status of its transaction. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  PENDING: ["READY"],
  PROCESSING: ["READY", "SENDING", "ACCEPTED"],
};
const ENDED = ["ENDED"];

/** Compares the payment of a transaction with the transaction's rows in the journal. */
export function checkPayment(payment: PaymentColumns, facts: PaymentFacts): void {
  const { id, type, destinationKind, seq, book, isOrder, status, processingAt, createdAt } = facts;
  const { findings } = book;
  const place: Place = { seq, table: "payments", id };
  const {
    payment_state: state,
    payment_direction: direction,
    payment_begun_at: begunAt,
    payment_sends: sends,
    payment_updated_at: updatedAt,
  } = payment;
  if (state === null || !isOrder) {
    if (isOrder) findings.add(place, { expected: "a row", found: "none" });
    if (state !== null) findings.add(place, { expected: "no payment without an order", found: "a row" });
    return;
  }
  const states = STATES[status ?? ""] ?? ENDED;
  if (!states.includes(state)) {
    findings.add(place, { expected: `${states.join(" or ")} while ${String(status)}`, found: state });
  }
  findings.compareFields(place, {
    direction: [type, direction],
    number_kind: [destinationKind ?? "PHONE", payment.payment_number_kind],
    begun_at: [processingAt, begunAt],
  });
  // Only the first time that the rail was asked has a row of the journal.
  if (sends < 0 || sends > 0 !== (processingAt !== null)) {
    const expected = processingAt === null ? "0 sends" : "at least 1 send";
    findings.add(place, { expected, found: `${String(sends)} sends` });
  }
  if (updatedAt < (createdAt ?? 0)) {
    findings.add(place, { expected: "a time after the transaction was accepted", found: "an earlier time" });
  }
  checkNumber(payment, place, book);
}

/** The number is there until the payment has ended, and its masked form agrees with it. */
function checkNumber(payment: PaymentColumns, place: Place, book: AuditedBook): void {
  const { payment_state: state, payment_phone_number: sealed, payment_masked_phone: masked } = payment;
  const { findings, secrets } = book;
  if ((state === "ENDED") !== (sealed === null)) {
    findings.add(place, {
      expected: "a number until the payment has ended",
      found: `the opposite, ${String(state)}`,
    });
    return;
  }
  if (sealed === null || secrets === undefined) return;
  const number = decryptedIn(book, { ownerId: String(place.id), field: "phone_number" }, sealed);
  if (number === undefined) {
    findings.add(place, { expected: "phone_number that the book's key decrypts", found: "another value" });
    return;
  }
  if (maskNumber(payment.payment_number_kind as DestinationKind, number as DestinationNumber) !== masked) {
    findings.add(place, { expected: "the masked form of the number", found: "another masked_phone" });
  }
}
