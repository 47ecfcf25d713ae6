import { bytes, changed, int64, orNull, type TableModel, text } from "./column.js";

export const ORGANIZATIONS = {
  owner: { of: "organization", column: "id" },
  key: ["id"],
  bound: ["id", "created_at", "is_sandbox", "name"],
  columns: {
    id: text,
    created_at: int64,
    /** 0 or 1. */
    is_sandbox: int64,
    mac: bytes,
    name: text,
  },
} as const satisfies TableModel;

export const BOOKS = {
  owner: { of: "organization", column: "organization_id" },
  key: ["organization_id"],
  // The sums, what an operator switched, and the limits with their use.
  bound: [
    "organization_id",
    "suspended_seq",
    "receipts_required_seq",
    "reserve_rules",
    "last_seq",
    "reserve_cents",
    "shortfall_cents",
    "charges_cents",
    "available_cents",
    "held_cents",
    "unallocated_cents",
    "limits",
    "limits_since",
    "day_from",
    "day_minted_cents",
    "day_redeemed_cents",
    "month_from",
    "month_minted_cents",
    "month_redeemed_cents",
    "payout_list",
  ],
  columns: {
    number: int64,
    organization_id: text,
    state: text,
    suspended_seq: changed(orNull(int64)),
    receipts_required_seq: changed(orNull(int64)),
    reserve_rules: changed(orNull(text)),
    /** The last row that came with an import of the book. Null if it was never imported. */
    arrived_seq: orNull(int64),
    /** Up to which time of the future an operator has accepted rows. */
    clock_accepted_at: orNull(int64),
    last_seq: changed(int64),
    last_recorded_at: changed(int64),
    reserve_cents: changed(int64),
    shortfall_cents: changed(int64),
    charges_cents: changed(int64),
    available_cents: changed(int64),
    held_cents: changed(int64),
    unallocated_cents: changed(int64),
    day_from: changed(orNull(int64)),
    day_minted_cents: changed(int64),
    day_redeemed_cents: changed(int64),
    month_from: changed(orNull(int64)),
    month_minted_cents: changed(int64),
    month_redeemed_cents: changed(int64),
    /** Null with `limits_since`, until the operator sets the first limits. */
    limits: changed(orNull(text)),
    limits_since: changed(orNull(int64)),
    /** 32 hexadecimal digits, as in `accounts`. */
    mac: changed(text),
    /** The detail of the newest row `payouts.list_set`. */
    payout_list: changed(orNull(text)),
  },
} as const satisfies TableModel;

export const BOOK_KEYS = {
  owner: { of: "book", column: "book" },
  key: ["book"],
  columns: {
    book: int64,
    data_key: bytes,
    index_key: bytes,
    master_key_id: text,
    seal_secret: bytes,
  },
} as const satisfies TableModel;

export const API_KEYS = {
  owner: { of: "organization", column: "organization_id" },
  key: ["id"],
  bound: ["id", "created_at", "expires_at", "name", "organization_id", "revoked_at", "scopes", "secret_sha256"],
  columns: {
    id: text,
    created_at: int64,
    expires_at: orNull(int64),
    last_used_at: changed(orNull(int64)),
    mac: changed(bytes),
    name: text,
    organization_id: text,
    revoked_at: changed(orNull(int64)),
    revoked_seq: changed(orNull(int64)),
    scopes: text,
    secret_sha256: text,
    seq: int64,
  },
} as const satisfies TableModel;

export const RESERVE_PLACES = {
  owner: { of: "book", column: "book" },
  key: ["book", "place"],
  columns: {
    book: int64,
    place: text,
    amount_cents: changed(int64),
    as_of_day: changed(text),
    evidence: changed(text),
    kind: changed(text),
    document_sha256: changed(orNull(text)),
    matures_on: changed(orNull(text)),
    statement_form: changed(orNull(text)),
    recorded_at: changed(int64),
    seq: changed(int64),
  },
} as const satisfies TableModel;
