import { bytes, changed, defaulted, due, int64, orNull, type TableModel, text } from "./column.js";

export const RAIL_ACCOUNTS = {
  owner: { of: "organization", column: "organization_id" },
  key: ["id"],
  bound: [
    "id",
    "organization_id",
    "rail",
    "settings",
    "credentials_expire_at",
    "payouts",
    "is_usual",
    "begin_within_millis",
    "confirm_above_cents",
    "resolve_alone_max_cents",
    "revision",
  ],
  columns: {
    id: text,
    organization_id: text,
    rail: text,
    /** A JSON object without secrets. Each rail has fields of its own. */
    settings: changed(text),
    /** An encrypted JSON object. Null for a rail that needs none. */
    credentials: changed(orNull(bytes)),
    credentials_expire_at: changed(orNull(int64)),
    payouts: changed(text),
    payouts_reason: changed(text),
    /** 0 or 1. */
    is_usual: changed(int64),
    begin_within_millis: changed(int64),
    confirm_above_cents: changed(int64),
    resolve_alone_max_cents: changed(int64),
    float_min_cents: changed(int64),
    /** How many rows of the journal are about the account. */
    revision: changed(int64),
    /** A JSON object: the figures of each warning that stands, by its code. */
    warnings: changed(text),
    /** A JSON text. Null until the rail has told a balance. */
    balance: defaulted(changed(orNull(text))),
    balance_at: defaulted(changed(orNull(int64))),
    /** The UUID in the address at which the rail may tell the next balance. */
    balance_question: defaulted(changed(orNull(text))),
    /** When that was asked, and the SHA-256 of the sealed credentials that it used. */
    balance_asked_at: defaulted(changed(orNull(int64))),
    balance_asked_with: defaulted(changed(orNull(text))),
    /** From when on payments count as deposits. Null until somebody registers for them. */
    deposits_since: defaulted(changed(orNull(int64))),
    /** When the list of received payments is read next. */
    deposits_due_at: due(defaulted(changed(orNull(int64)))),
    /** When it was read to its end last. */
    deposits_read_at: defaulted(changed(orNull(int64))),
    created_at: int64,
    mac: changed(bytes),
    updated_at: changed(int64),
  },
} as const satisfies TableModel;

export const RAIL_MESSAGES = {
  owner: { of: "transaction", column: "transaction_id" },
  key: ["id"],
  numbered: "id",
  columns: {
    id: int64,
    body_masked: text,
    due_at: due(changed(orNull(int64))),
    purpose: text,
    received_at: int64,
    sha256: text,
    transaction_id: text,
    tries: changed(int64),
  },
} as const satisfies TableModel;
