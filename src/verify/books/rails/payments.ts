import type { OrganizationId, TransactionId } from "../../../domain/values/ids.js";
import { maskPhone } from "../../../domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../domain/values/phone-number.js";
import { decryptPersonal } from "../../../storage/secrets/personal-data.js";
import type { RowStream, Snapshot } from "../../../storage/sql/snapshot.js";
import type { Place } from "../../findings.js";
import type { AuditedBook } from "../book-stream.js";
import type { GroupKey } from "../groups.js";

/** A row of `payments`. `id` is the id of its transaction. */
export interface PaymentRow extends GroupKey {
  readonly state: string;
  readonly phone_number: Buffer | null;
  readonly masked_phone: string;
  readonly begun_at: number | null;
  readonly due_at: number;
  readonly updated_at: number;
}

/** What the journal says about the transaction of a payment. */
export interface PaymentFacts {
  /** The id of the transaction. */
  readonly id: string;
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

export function paymentRows(snapshot: Snapshot): RowStream<PaymentRow> {
  return snapshot.rows(`
    SELECT book, transaction_id AS id, state, phone_number, masked_phone, begun_at, due_at, updated_at
    FROM ${snapshot.table("payments")} ORDER BY book, transaction_id ${snapshot.byCodeUnit}`);
}

/** Compares the payment of a transaction with the transaction's rows in the journal. */
export function checkPayment(payment: PaymentRow | undefined, facts: PaymentFacts): void {
  const { id, seq, book, isOrder, status, processingAt, createdAt } = facts;
  const { findings } = book;
  const place: Place = { seq, table: "payments", id };
  if (payment === undefined || !isOrder) {
    if (isOrder) findings.add(place, { expected: "a row", found: "none" });
    if (payment !== undefined) findings.add(place, { expected: "no payment without an order", found: "a row" });
    return;
  }
  const states = STATES[status ?? ""] ?? ENDED;
  if (!states.includes(payment.state)) {
    findings.add(place, { expected: `${states.join(" or ")} while ${String(status)}`, found: payment.state });
  }
  findings.compareFields(place, { begun_at: [processingAt, payment.begun_at] });
  const earliest = createdAt ?? 0;
  if (!(payment.updated_at >= earliest && payment.due_at >= earliest)) {
    findings.add(place, { expected: "times after the transaction was accepted", found: "an earlier time" });
  }
  checkPhone(payment, place, book);
}

/** The number is there until the payment has ended, and its masked form agrees with it. */
function checkPhone({ state, phone_number: sealed, masked_phone: masked }: PaymentRow, place: Place, book: AuditedBook): void {
  const { findings, secrets, row } = book;
  if ((state === "ENDED") !== (sealed === null)) {
    findings.add(place, { expected: "a phone number until the payment has ended", found: `the opposite, ${state}` });
    return;
  }
  if (sealed === null || secrets === undefined) return;
  const owner = { organizationId: row.organization_id as OrganizationId, ownerId: place.id as TransactionId };
  let phoneNumber: string;
  try {
    phoneNumber = decryptPersonal(secrets.keys, { ...owner, field: "phone_number" }, sealed);
  } catch {
    findings.add(place, { expected: "phone_number that the book's key decrypts", found: "another value" });
    return;
  }
  if (maskPhone(phoneNumber as PhoneNumber) !== masked) {
    findings.add(place, { expected: "the masked form of the phone number", found: "another masked_phone" });
  }
}
