import type { AccountId, OrganizationId } from "../../domain/values/ids.js";
import { contentHash } from "../../storage/secrets/book-keys.js";
import { decryptPersonal, type PersonalField } from "../../storage/secrets/personal-data.js";
import type { Finding, Place } from "../findings.js";
import type { AuditedBook } from "./book.js";
import type { AuditedJournalRow } from "./journal-rows.js";

/** The columns of a journal row that its `content_hash` covers, and the hash. */
export type HashedRow = Pick<AuditedJournalRow, "seq" | "kind" | "recorded_at" | "content_hash">;

interface AuditedContent {
  readonly accountId?: string | null;
  readonly transactionId?: string | null;
  /** The fields of what the row created. Empty if it created nothing. */
  readonly created: readonly string[];
  /** Absent if the book's key gives the salt. */
  readonly salt?: Buffer | null;
}

/** The bytes of the salt of personal data. */
export const SALT_BYTES = 16;

/** A server believes no row without a true `mac`: it needs a key of the book (docs/adr/0072). */
export const ANOTHER_MAC = { expected: "the mac that the row gives", found: "another mac, or another row" } as const;

/**
 * Returns the proofs that the hash covers after what the row created. `movement` is that of the
 * transaction's own row.
 */
export function proofsIn(
  { detail, rail_receipt: receipt }: Pick<AuditedJournalRow, "detail" | "rail_receipt">,
  movement: string | null = null,
): string[] {
  const proofs = [detail, receipt, movement];
  return proofs.every((proof) => proof === null) ? [] : proofs.map((proof) => proof ?? "");
}

/** Adds a finding if a row has not the hash of its content. No hash is checked without the keys. */
export function checkHash(
  { secrets, findings }: AuditedBook,
  row: HashedRow,
  { accountId = null, transactionId = null, created, salt }: AuditedContent,
  { place, ...texts }: Pick<Finding, "expected" | "found"> & { readonly place: Place },
): void {
  if (secrets === undefined) return;
  const { seq, kind, recorded_at: recordedAt, content_hash: found } = row;
  const saltText = salt === undefined ? secrets.salts.of(seq) : (salt?.toString("hex") ?? "");
  if (found === contentHash(saltText, { kind, recordedAt, accountId, transactionId, created })) return;
  findings.add(place, texts);
}

/** Checks the hash of a row about the organization itself, which covers the row's own columns. */
export function checkOwnHash(
  book: AuditedBook,
  row: AuditedJournalRow,
  { found = "another content_hash, detail or time", created = proofsIn(row) } = {},
): void {
  const place: Place = { seq: row.seq, table: "journal", id: undefined };
  checkHash(book, row, { created }, { place, expected: "the content_hash of the row", found });
}

/** Returns the text of a column. Undefined if it is NULL, or the book's key does not decrypt it. */
export function decryptedIn(
  { row, secrets }: AuditedBook,
  { ownerId, field }: { readonly ownerId: string; readonly field: PersonalField },
  sealed: Buffer | null,
): string | undefined {
  if (secrets === undefined || sealed === null) return undefined;
  const organizationId = row.organization_id as OrganizationId;
  try {
    return decryptPersonal(secrets.keys, { organizationId, ownerId: ownerId as AccountId, field }, sealed);
  } catch {
    return undefined;
  }
}
