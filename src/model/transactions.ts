import { bytes, changed, defaulted, due, int64, orNull, type TableModel, text } from "./column.js";

export const TRANSACTIONS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    seq: int64,
    id: text,
    account_id: text,
    type: text,
    status: changed(text),
    status_reason: changed(text),
    amount_cents: int64,
    reference: text,
    description: text,
    /**
     * A JSON array of [key, value] pairs. An object would move keys that look like numbers to the
     * front.
     */
    metadata: text,
    rail: text,
    rail_movement: changed(orNull(text)),
    rail_receipt: changed(orNull(text)),
    failure: changed(orNull(text)),
    /** The open flags, joined by commas. Null if there is none. */
    open_flags: changed(orNull(text)),
    /** Why the redemption waits for a person, joined by commas. Null if it does not. */
    held_for: changed(orNull(text)),
    /** A failure that `failure` does not take. That column then has RESOLVED_BY_OPERATOR. */
    later_failure: changed(orNull(text)),
    /** The transaction that this one corrects. Null with `correction`. */
    corrects_id: orNull(text),
    correction: orNull(text),
    /** The deposit whose shillings the transaction credits, or takes back. */
    deposit_id: orNull(text),
    /** Null if a redemption pays the phone number of its account. */
    destination_id: orNull(text),
    reversed_by_id: changed(orNull(text)),
    created_at: int64,
    updated_at: changed(int64),
    completed_at: changed(orNull(int64)),
  },
} as const satisfies TableModel;

export const PAYMENTS = {
  owner: { of: "book", column: "book" },
  key: ["transaction_id"],
  columns: {
    transaction_id: text,
    book: int64,
    rail_account_id: text,
    direction: text,
    state: changed(text),
    number_kind: text,
    /** Null once the payment has ended. */
    phone_number: changed(orNull(bytes)),
    masked_phone: text,
    rail_reference: changed(orNull(text)),
    begun_at: changed(orNull(int64)),
    sends: changed(int64),
    turned_away: changed(int64),
    ahead_millis: changed(int64),
    due_at: due(changed(int64)),
    updated_at: changed(int64),
    checks: defaulted(changed(int64)),
    advances: defaulted(changed(int64)),
    last_code: defaulted(changed(orNull(text))),
    status_question: defaulted(changed(orNull(text))),
  },
} as const satisfies TableModel;

export const PROPOSALS = {
  owner: { of: "book", column: "book" },
  key: ["subject"],
  columns: {
    book: int64,
    subject: text,
    id: changed(text),
    content: changed(text),
    person: changed(text),
    seq: changed(int64),
    proposed_at: changed(int64),
    expires_at: changed(orNull(int64)),
    decision: changed(orNull(text)),
    decided_by: changed(orNull(text)),
    done_at: changed(orNull(int64)),
    sealed: changed(orNull(bytes)),
    mac: changed(bytes),
  },
} as const satisfies TableModel;

export const IDEMPOTENCY_KEYS = {
  owner: { of: "book", column: "book" },
  key: ["book", "key"],
  columns: {
    book: int64,
    key: text,
    created_at: int64,
    resource_id: text,
  },
} as const satisfies TableModel;

export const JOURNAL = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  isAppendOnly: true,
  columns: {
    book: int64,
    seq: int64,
    previous_seq: orNull(int64),
    account_id: orNull(text),
    transaction_id: orNull(text),
    freeze_id: orNull(text),
    kind: text,
    debit: orNull(text),
    credit: orNull(text),
    amount_cents: orNull(int64),
    available_after_cents: orNull(int64),
    held_after_cents: orNull(int64),
    detail: orNull(text),
    rail_receipt: orNull(text),
    actor: text,
    reason: text,
    recorded_at: int64,
    content_hash: bytes,
    /** On the first row of what one person did alone by amount. An ordinary row names neither. */
    alone_by: defaulted(orNull(text)),
    /** The sum of what the person did alone in that day of Nairobi, this act included. */
    alone_cents: defaulted(orNull(int64)),
  },
} as const satisfies TableModel;

/**
 * The rows of the index `journal_receipt_numbers`, and the number by which it has a receipt: a
 * colon, and the number in capital letters. A query that uses the index repeats both.
 */
export const RECEIPTS_WITH_SOURCE = "rail_receipt LIKE '%:%' AND kind <> 'charge.recorded'";
export const RECEIPT_NUMBER = "upper(ltrim(rail_receipt, 'abcdefghijklmnopqrstuvwxyz0123456789-'))";

/** The rows of the index `journal_transaction_steps`. A query that uses the index repeats them. */
export const TRANSACTION_STEPS = `(${["processing", "receipted", "flagged", "attended", "held", "released"]
  .map((kind) => `'transaction.${kind}'`)
  .join(", ")})`;

/** The rows of the index `transactions_attention`. A query that uses the index repeats it. */
export const NEEDS_ATTENTION = "(open_flags IS NOT NULL OR held_for IS NOT NULL)";

/** The rows of the index `transactions_checks`. A query that uses the index repeats it. */
export const WAITS_FOR_CHECK = "held_for IS NOT NULL AND ',' || held_for || ',' LIKE '%,CHECK,%'";
/** The rows of the index `journal_payout_checks`. A query that uses the index repeats it. */
export const CHECK_ROWS = "kind IN ('payouts.check_set', 'payouts.check_cleared')";

/**
 * The rows of the index `transactions_paid_out`, and what each has paid: a destination, or the own
 * number of an account. A query that uses the index repeats both.
 */
export const PAID_OUT =
  "type = 'REDEEM' AND status = 'COMPLETED' AND rail <> 'direct' AND deposit_id IS NULL AND corrects_id IS NULL";
export const PAID_TO = "COALESCE(destination_id, account_id)";

/** The rows of the index `journal_account_debits`. A query that uses the index repeats it. */
export const DEBITS_OF_ACCOUNTS = `(debit IN ('available', 'held')
     OR kind IN ('account.frozen', 'account.unfrozen', 'account.closed', 'account.tiered'))`;

/**
 * The rows of the index `journal_bank_files`, and the id of the file that each is about: the first
 * text of its detail. A query that uses the index repeats both.
 */
export const ROWS_OF_BANK_FILES = "kind IN ('bank_file.approved', 'bank_file.downloaded', 'bank_file.lost')";
export const BANK_FILE_IN = "substr(detail, 3, 26)";
/** The rows of the index `journal_approved_bank_files`. */
export const APPROVED_BANK_FILES = "kind = 'bank_file.approved'";

/**
 * The rows of the index `journal_closed_months`, and the month that each has closed: the first text
 * of its detail. A query that uses the index repeats both.
 */
export const CLOSINGS = "kind = 'month.closed'";
export const CLOSED_MONTH = "substr(detail, 3, 7)";
