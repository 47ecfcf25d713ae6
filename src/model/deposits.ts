import { bytes, changed, due, int64, orNull, type TableModel, text } from "./column.js";

export const DEPOSITS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    /** The `seq` of the journal row `deposit.received`. */
    seq: int64,
    id: text,
    rail: text,
    /** Null if an operator has recorded the deposit. */
    rail_account_id: orNull(text),
    receipt: text,
    amount_cents: int64,
    status: changed(text),
    /** Null unless the deposit is UNALLOCATED. */
    reason: changed(orNull(text)),
    account_id: changed(orNull(text)),
    transaction_id: changed(orNull(text)),
    credits: changed(int64),
    /** What the payer typed, encrypted. It goes after some time, and with the account's person. */
    typed_reference: changed(orNull(bytes)),
    masked_phone: orNull(text),
    paid_at: orNull(int64),
    created_at: int64,
    updated_at: changed(int64),
    /** When the rail is asked next. Null unless the deposit is RETURNING. */
    return_due_at: due(changed(orNull(int64))),
    /** The requests to the rail so far, as a JSON list. Null before the first one. */
    return_requests: changed(orNull(text)),
  },
} as const satisfies TableModel;
