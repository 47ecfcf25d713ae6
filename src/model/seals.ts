import { bytes, changed, int64, orNull, type TableModel, text } from "./column.js";

export const SEALS = {
  owner: { of: "book", column: "book" },
  key: ["book", "size"],
  isAppendOnly: true,
  columns: {
    book: int64,
    size: int64,
    available_cents: int64,
    charges_cents: int64,
    held_cents: int64,
    note: text,
    reserve_cents: int64,
    root: bytes,
    sealed_at: int64,
    shortfall_cents: int64,
    unallocated_cents: int64,
  },
} as const satisfies TableModel;

export const SEAL_TILES = {
  owner: { of: "book", column: "book" },
  key: ["book", "level", "number"],
  columns: {
    book: int64,
    level: int64,
    number: int64,
    hashes: changed(bytes),
  },
} as const satisfies TableModel;

export const SEAL_ALARMS = {
  owner: { of: "book", column: "book" },
  key: ["book", "raised_at"],
  columns: {
    book: int64,
    raised_at: int64,
    clear_reason: orNull(text),
    cleared_at: orNull(int64),
    cleared_by: orNull(text),
    first_seq: int64,
    last_seq: int64,
    problem: text,
    size: int64,
  },
} as const satisfies TableModel;

export const ACCOUNT_MARKS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    seq: int64,
    account_id: text,
  },
} as const satisfies TableModel;

export const BOOK_MARKS = {
  owner: { of: "book", column: "book" },
  key: ["book", "seq"],
  columns: {
    book: int64,
    seq: int64,
    available_cents: int64,
    charges_cents: int64,
    held_cents: int64,
    minted_cents: int64,
    redeemed_cents: int64,
    reserve_cents: int64,
    shortfall_cents: int64,
    unallocated_cents: int64,
  },
} as const satisfies TableModel;
