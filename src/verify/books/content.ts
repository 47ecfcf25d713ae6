import type { RowSalts } from "../../storage/secrets/book-keys.js";
import { contentHash } from "../../storage/secrets/content-hash.js";
import type { AuditedBook } from "./book.js";

/** The columns of a journal row that its `content_hash` covers, and the hash. */
export interface HashedRow {
  readonly seq: number;
  readonly kind: string;
  readonly recorded_at: number;
  /** In hexadecimal. */
  readonly content_hash: string | null;
}

interface AuditedContent {
  readonly accountId: string | null;
  readonly transactionId: string | null;
  /** The fields of what the row created. Empty if it created nothing. */
  readonly created: readonly string[];
}

/** The columns of a journal row that its hash covers after what the row created. */
export interface ProofColumns {
  readonly detail: string | null;
  readonly rail_receipt: string | null;
}

/** A server believes no row without a true `mac`: it needs a key of the book (docs/adr/0059). */
export const ANOTHER_MAC = { expected: "the mac that the row gives", found: "another mac, or another row" } as const;

/** Returns the proofs that the hash covers. `movement` is that of the transaction's own row. */
export function proofsIn({ detail, rail_receipt: receipt }: ProofColumns, movement: string | null = null): string[] {
  const proofs = [detail, receipt, movement];
  return proofs.every((proof) => proof === null) ? [] : proofs.map((proof) => proof ?? "");
}

/** Returns whether a row has the hash of its content. The book's key gives the salt. */
export function hasHashOf(content: AuditedContent, row: HashedRow, salts: RowSalts): boolean {
  return hasSaltedHashOf(content, row, salts.of(row.seq));
}

/** The same with another salt, in hexadecimal. */
export function hasSaltedHashOf(content: AuditedContent, row: HashedRow, salt: string): boolean {
  const { kind, recorded_at: recordedAt, content_hash: found } = row;
  return found === contentHash(salt, { kind, recordedAt, ...content });
}

/** Adds a finding if a row about the organization itself has not the hash of its own columns. */
export function checkOwnHash(
  { secrets, findings }: AuditedBook,
  row: HashedRow & ProofColumns,
  { found = "another content_hash, detail or time", created = proofsIn(row) } = {},
): void {
  if (secrets === undefined || hasHashOf({ accountId: null, transactionId: null, created }, row, secrets.salts)) return;
  findings.add({ seq: row.seq, table: "journal", id: undefined }, { expected: "the content_hash of the row", found });
}
