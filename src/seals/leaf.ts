import { hash } from "node:crypto";

import { leafHash } from "./merkle.js";

/** A row of the journal, as the tables have it. */
export interface LeafRow {
  readonly seq: number;
  readonly previous_seq: number | null;
  readonly account_id: string | null;
  readonly transaction_id: string | null;
  readonly freeze_id: string | null;
  readonly kind: string;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number | null;
  readonly held_after_cents: number | null;
  readonly detail: string | null;
  readonly rail_receipt: string | null;
  readonly actor: string;
  readonly reason: string;
  readonly recorded_at: number;
  /** In hexadecimal. */
  readonly content_hash: string;
}

// The first text names the format, so that a later format cannot be mistaken for this one.
const LEAF_FORMAT = "kesc-row-1";
const TEXTS_FORMAT = "kesc-texts-1";

/**
 * Returns the text of a leaf: a JSON array of strings in a fixed order (docs/seals.md). A field
 * that the row lacks is empty. Of the texts that people wrote, it has a salted hash only.
 */
export function leafTextOf(organizationId: string, row: LeafRow, textsSalt: string): string {
  return JSON.stringify([
    LEAF_FORMAT,
    organizationId,
    ...[row.seq, row.previous_seq, row.account_id, row.transaction_id, row.freeze_id, row.kind].map(fieldOf),
    ...[row.debit, row.credit, row.amount_cents, row.available_after_cents, row.held_after_cents].map(fieldOf),
    ...[row.rail_receipt, row.recorded_at].map(fieldOf),
    hash("sha256", textsSalt + textsOf(row), "hex"),
    row.content_hash,
  ]);
}

/** Returns the texts that a leaf holds a salted hash of: a JSON array. */
export function textsOf({ detail, actor, reason }: Pick<LeafRow, "detail" | "actor" | "reason">): string {
  return JSON.stringify([TEXTS_FORMAT, detail ?? "", actor, reason]);
}

/** Returns the hash of a row's leaf. */
export function leafHashOf(organizationId: string, row: LeafRow, textsSalt: string): Buffer {
  return leafHash(leafTextOf(organizationId, row, textsSalt));
}

function fieldOf(value: string | number | null): string {
  return value === null ? "" : String(value);
}
