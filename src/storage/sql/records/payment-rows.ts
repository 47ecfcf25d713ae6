import type { Payment, PaymentState, RailAccountId, RailReference } from "../../../domain/payment.js";
import type { OperatorName, Proposal } from "../../../domain/proposal.js";
import type { TransactionId } from "../../../domain/values/ids.js";
import type { MaskedPhone } from "../../../domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../domain/values/phone-number.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { decryptPersonal, encryptPersonal } from "../../secrets/personal-data.js";
import type { OpenBook } from "../book-directory.js";
import type { ColumnType } from "../engine.js";

/** A row of `payments`. */
export interface PaymentRow<Bytes = Buffer> {
  readonly transaction_id: string;
  readonly book: number;
  readonly rail_account_id: string;
  readonly direction: string;
  readonly state: string;
  /** Null once the payment has ended. */
  readonly phone_number: Bytes | null;
  readonly masked_phone: string;
  readonly rail_reference: string | null;
  readonly begun_at: number | null;
  readonly sends: number;
  readonly turned_away: number;
  readonly due_at: number;
  readonly updated_at: number;
}

/** The columns of `payments` that are a schedule. The settlement changes them past the ledger. */
export const PAYMENT_SCHEDULE = ["due_at", "checks", "advances", "last_code"] as const;

/** A row of `proposals`. */
export interface ProposalRow {
  readonly book: number;
  readonly subject: string;
  readonly content: string;
  readonly person: string;
  readonly proposed_at: number;
  readonly done_at: number | null;
}

export const PAYMENT_COLUMNS = {
  transaction_id: "text",
  book: "int64",
  rail_account_id: "text",
  direction: "text",
  state: "text",
  phone_number: "bytes",
  masked_phone: "text",
  rail_reference: "text",
  begun_at: "int64",
  sends: "int64",
  turned_away: "int64",
  due_at: "int64",
  updated_at: "int64",
} as const satisfies Record<keyof PaymentRow, ColumnType>;

export const PROPOSAL_COLUMNS = {
  book: "int64",
  subject: "text",
  content: "text",
  person: "text",
  proposed_at: "int64",
  done_at: "int64",
} as const satisfies Record<keyof ProposalRow, ColumnType>;

/** Decrypts the phone number. Throws if it was changed, or belongs to another payment. */
export function paymentOf(row: PaymentRow, { organizationId, keys }: OpenBook): Payment {
  const transactionId = row.transaction_id as TransactionId;
  const place = { organizationId, ownerId: transactionId, field: "phone_number" } as const;
  return {
    transactionId,
    organizationId,
    railAccountId: row.rail_account_id as RailAccountId,
    direction: row.direction as Payment["direction"],
    state: row.state as PaymentState,
    phoneNumber:
      row.phone_number === null ? undefined : (decryptPersonal(keys, place, row.phone_number) as PhoneNumber),
    maskedPhone: row.masked_phone as MaskedPhone,
    railReference: (row.rail_reference ?? undefined) as RailReference | undefined,
    begunAt: row.begun_at === null ? undefined : toUnixMillis(row.begun_at),
    sends: row.sends,
    turnedAway: row.turned_away,
    dueAt: toUnixMillis(row.due_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** Encrypts the phone number. */
export function paymentRowOf(payment: Payment, { number, keys }: OpenBook): PaymentRow<string> {
  const { transactionId, organizationId, phoneNumber } = payment;
  const place = { organizationId, ownerId: transactionId, field: "phone_number" } as const;
  return {
    transaction_id: transactionId,
    book: number,
    rail_account_id: payment.railAccountId,
    direction: payment.direction,
    state: payment.state,
    phone_number: phoneNumber === undefined ? null : encryptPersonal(keys, place, phoneNumber).toString("hex"),
    masked_phone: payment.maskedPhone,
    rail_reference: payment.railReference ?? null,
    begun_at: payment.begunAt ?? null,
    sends: payment.sends,
    turned_away: payment.turnedAway,
    due_at: payment.dueAt,
    updated_at: payment.updatedAt,
  };
}

export function proposalOf(row: ProposalRow, { organizationId }: OpenBook): Proposal {
  return {
    organizationId,
    subject: row.subject,
    content: row.content,
    person: row.person as OperatorName,
    proposedAt: toUnixMillis(row.proposed_at),
    doneAt: row.done_at === null ? undefined : toUnixMillis(row.done_at),
  };
}

export function proposalRowOf({ subject, content, person, proposedAt, doneAt }: Proposal, book: OpenBook): ProposalRow {
  return { book: book.number, subject, content, person, proposed_at: proposedAt, done_at: doneAt ?? null };
}
