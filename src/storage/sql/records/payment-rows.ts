import type { DestinationKind, DestinationNumber, MaskedNumber } from "../../../domain/destination.js";
import type { Payment, PaymentState, RailAccountId, RailReference } from "../../../domain/payment.js";
import type { TransactionId } from "../../../domain/values/ids.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { PAYMENTS } from "../../../model/transactions.js";
import { decryptPersonal, encryptPersonal } from "../../secrets/personal-data.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `payments`. */
export type PaymentRow = RowOf<typeof PAYMENTS>;

/** The columns that change until the payment ends. */
const PROGRESS_NAMES = [
  "state",
  "rail_reference",
  "begun_at",
  "sends",
  "turned_away",
  "ahead_millis",
  "due_at",
  "updated_at",
] as const satisfies readonly (keyof PaymentRow)[];

export const PAYMENT_TABLE: Table<Payment, PaymentRow> = {
  name: "payments",
  key: "transaction_id",
  insertedRow: paymentRowOf,
  reads: ({ table, within }, { list, pairs, keyed }) => [
    {
      finders: ["payment", "idempotencyKeyOfPayment", "paymentWithReference"],
      sql: `
        SELECT * FROM ${table("payments")} WHERE ${within("transaction_id", `${list} UNION ALL ${keyed}`)}
        UNION ALL
        SELECT p.* FROM ${pairs}
        CROSS JOIN ${table("transactions")} t CROSS JOIN ${table("payments")} p
        WHERE t.book = input.book AND t.reference = input.name AND p.transaction_id = t.id`,
    },
  ],
  rowOf: paymentOf,
  updates: [
    { sets: PROGRESS_NAMES, fits: (before, after) => after.state !== "ENDED", updatedRow: progressRowOf },
    { sets: changedNamesOf(PAYMENTS) },
  ],
};

/**
 * Decrypts the phone number. Throws an UnreadableRowError if it was changed, or belongs to another
 * payment.
 */
export function paymentOf(row: PaymentRow, { organizationId, keys }: OpenBook): Payment {
  const transactionId = row.transaction_id as TransactionId;
  const place = { organizationId, ownerId: transactionId, field: "phone_number" } as const;
  return {
    transactionId,
    organizationId,
    railAccountId: row.rail_account_id as RailAccountId,
    direction: row.direction as Payment["direction"],
    state: row.state as PaymentState,
    numberKind: row.number_kind as DestinationKind,
    number:
      row.phone_number === null ? undefined : (decryptPersonal(keys, place, row.phone_number) as DestinationNumber),
    maskedNumber: row.masked_phone as MaskedNumber,
    railReference: (row.rail_reference ?? undefined) as RailReference | undefined,
    begunAt: row.begun_at === null ? undefined : toUnixMillis(row.begun_at),
    sends: row.sends,
    turnedAway: row.turned_away,
    aheadMillis: row.ahead_millis,
    dueAt: toUnixMillis(row.due_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** Encrypts the phone number. */
function paymentRowOf(payment: Payment, { book }: RowPlace): InsertedRow<typeof PAYMENTS> {
  const { transactionId, organizationId, number } = payment;
  const place = { organizationId, ownerId: transactionId, field: "phone_number" } as const;
  return {
    book: book.number,
    rail_account_id: payment.railAccountId,
    direction: payment.direction,
    number_kind: payment.numberKind,
    phone_number: number === undefined ? null : encryptPersonal(book.keys, place, number).toString("hex"),
    masked_phone: payment.maskedNumber,
    ...progressRowOf(payment),
  };
}

function progressRowOf(payment: Payment): Pick<PaymentRow, "transaction_id" | (typeof PROGRESS_NAMES)[number]> {
  return {
    transaction_id: payment.transactionId,
    state: payment.state,
    rail_reference: payment.railReference ?? null,
    begun_at: payment.begunAt ?? null,
    sends: payment.sends,
    turned_away: payment.turnedAway,
    ahead_millis: payment.aheadMillis,
    due_at: payment.dueAt,
    updated_at: payment.updatedAt,
  };
}

/**
 * Returns two SELECTs. Each open payment is in one of two indexes, and each condition is that of
 * its index. More conditions may follow with AND.
 */
export function openPayments({ table, indexedBy }: Pick<Engine, "table" | "indexedBy">): {
  readonly newPayouts: string;
  readonly others: string;
} {
  const along = (index: string, condition: string): string =>
    `SELECT * FROM ${table("payments")}${indexedBy(index)} WHERE ${condition}`;
  return {
    newPayouts: along("payments_new_payouts", "state = 'READY' AND direction = 'REDEEM'"),
    others: along("payments_other_open", "state <> 'ENDED' AND (state <> 'READY' OR direction = 'MINT')"),
  };
}
