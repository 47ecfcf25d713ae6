import { bytes, changed, int64, orNull, type TableModel, text } from "./column.js";

export const ACCOUNTS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  // What the ledger decides by.
  bound: [
    "last_seq",
    "available_cents",
    "held_cents",
    "open_payments",
    "day_from",
    "day_minted_cents",
    "day_redeemed_cents",
    "month_from",
    "month_minted_cents",
    "month_redeemed_cents",
    "id",
    "status",
    "deposit_reference",
    "tier",
  ],
  columns: {
    book: int64,
    seq: int64,
    /** The `seq` of the account's newest row in the journal. */
    last_seq: changed(int64),
    id: text,
    status: changed(text),
    status_reason: changed(text),
    available_cents: changed(int64),
    held_cents: changed(int64),
    open_payments: changed(int64),
    tier: changed(text),
    /** Null if each number that the service tried was taken. */
    deposit_reference: orNull(text),
    /** Null with `month_from`, until the first transaction counts. */
    day_from: changed(orNull(int64)),
    day_minted_cents: changed(int64),
    day_redeemed_cents: changed(int64),
    month_from: changed(orNull(int64)),
    month_minted_cents: changed(int64),
    month_redeemed_cents: changed(int64),
    created_at: int64,
    updated_at: changed(int64),
    /** 32 hexadecimal digits. Text, because every mint reads and writes it. */
    mac: changed(text),
  },
} as const satisfies TableModel;

export const ACCOUNT_HOLDERS = {
  owner: { of: "book", column: "book" },
  key: ["account_id"],
  columns: {
    account_id: text,
    book: int64,
    seq: int64,
    /** 0 or 1. */
    is_open: changed(int64),
    user_id: changed(orNull(text)),
    phone_number: changed(orNull(bytes)),
    phone_number_index: changed(orNull(bytes)),
    phone_number_changed_at: changed(orNull(int64)),
    email: changed(orNull(bytes)),
    /** Null if the user has no e-mail address. */
    email_index: changed(orNull(bytes)),
    email_changed_at: changed(orNull(int64)),
    content_salt: changed(orNull(bytes)),
  },
} as const satisfies TableModel;

export const FREEZES = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    /** The `seq` of the journal row `account.frozen`. */
    seq: int64,
    id: text,
    account_id: text,
    reason_code: text,
    reason: text,
    created_by: text,
    created_at: int64,
    /** Null while the freeze stands, like the two columns after it. */
    lifted_by: changed(orNull(text)),
    lifted_at: changed(orNull(int64)),
    lift_reason: changed(orNull(text)),
  },
} as const satisfies TableModel;

export const DESTINATIONS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    /** The `seq` of the journal row `destination.created`. */
    seq: int64,
    id: text,
    account_id: text,
    kind: text,
    label: text,
    /**
     * Encrypted, with the rail's name for it on a second line, if there is one. Null, with
     * `content_salt`, once the destination is removed.
     */
    number: changed(orNull(bytes)),
    masked_number: text,
    content_salt: changed(orNull(bytes)),
    usable_at: int64,
    created_at: int64,
    removed_at: changed(orNull(int64)),
  },
} as const satisfies TableModel;
