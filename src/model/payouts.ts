import { bytes, changed, int64, orNull, type TableModel, text } from "./column.js";

export const PAYOUT_FILES = {
  owner: { of: "book", column: "book" },
  key: ["book", "sha256"],
  bound: ["sha256", "rows_sha256", "rail", "row_count", "amount_cents", "left_out", "seq", "approved_at"],
  columns: {
    book: int64,
    sha256: text,
    rows_sha256: text,
    rail: text,
    row_count: int64,
    amount_cents: int64,
    left_out: int64,
    /** The `seq` of the journal row `payouts.approved`. */
    seq: int64,
    approved_at: int64,
    mac: changed(bytes),
    /** When the journal row `payouts.stopped` was written. */
    stopped_at: changed(orNull(int64)),
  },
} as const satisfies TableModel;

/** A file that a person has stopped. A command that stops it does not know `seq`. */
export const STOPPED_PAYOUT_FILES = {
  ...PAYOUT_FILES,
  bound: ["sha256", "rows_sha256", "rail", "row_count", "amount_cents", "left_out", "approved_at", "stopped_at"],
} as const satisfies TableModel;

/** Lists of those to whom payouts are held. They name nobody. */
export const PAYOUT_LISTS = {
  owner: { of: "book", column: "book" },
  key: ["book", "list"],
  isDeletedFrom: true,
  columns: {
    book: int64,
    /** The hash of the entries. */
    list: text,
    /** Halves of keyed hashes, in their order. */
    entries: bytes,
    /** When the list was proposed last. */
    stored_at: int64,
  },
} as const satisfies TableModel;

export const PAYOUT_PARTS = {
  owner: { of: "book", column: "book" },
  key: ["book", "rows_sha256", "part"],
  isDeletedFrom: true,
  columns: {
    book: int64,
    rows_sha256: text,
    part: int64,
    file_sha256: text,
    /** An encrypted JSON text. */
    sealed: bytes,
    /** When the file was proposed last. */
    stored_at: changed(int64),
    /** A JSON array: the lines that the ledger refused, with its words. Null until the part ran. */
    outcomes: changed(orNull(text)),
  },
} as const satisfies TableModel;
