import type { JournalKind } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import type { AuditedBook } from "./book-stream.js";
import { hasHashOf, type HashedRow } from "./content.js";
import { checkGroups, type GroupCheck, type GroupKey } from "./groups.js";

/** A row of `api_keys`. */
interface ApiKeyRow extends GroupKey {
  readonly id: string;
  readonly name: string;
  readonly secret_sha256: string;
  readonly scopes: string;
  readonly seq: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_seq: number | null;
  readonly revoked_at: number | null;
}

/** A row of the journal. `id` is the id of the key that names the row, or "" if none does. */
type KeyJournalRow = GroupKey & HashedRow;

type KeyKind = Extract<JournalKind, `key.${string}`>;

/**
 * Compares each API key with the rows of the journal that created and revoked it, and each of those
 * rows with a key. Counts the keys.
 */
export async function auditApiKeys(audit: Audit): Promise<void> {
  const { snapshot, coverage } = audit;
  const { byCodeUnit, table, hex } = snapshot;
  coverage.apiKeys += await checkGroups<ApiKeyRow, KeyJournalRow>(audit, {
    table: "api_keys",
    summaries: snapshot.rows(`
      SELECT b.number AS book, k.id, k.name, k.secret_sha256, k.scopes, k.seq, k.created_at, k.expires_at,
        k.revoked_seq, k.revoked_at
      FROM ${table("api_keys")} k JOIN ${table("books")} b ON b.organization_id = k.organization_id
      ORDER BY b.number, k.id ${byCodeUnit}`),
    rows: snapshot.rows(`
      SELECT j.book, COALESCE(k.id, '') AS id, j.seq, j.kind, j.recorded_at, ${hex("j.content_hash")} AS content_hash
      FROM ${table("journal")} j JOIN ${table("books")} b ON b.number = j.book
      LEFT JOIN ${table("api_keys")} k
        ON k.organization_id = b.organization_id AND j.seq IN (k.seq, k.revoked_seq)
      WHERE j.kind IN ('key.created', 'key.revoked')
      ORDER BY j.book, COALESCE(k.id, '') ${byCodeUnit}, j.seq`),
    check: ({ book, summary }) => (summary === undefined ? withoutKey(book) : new ApiKeyCheck(summary, book)),
  });
}

function withoutKey({ findings }: AuditedBook): GroupCheck<KeyJournalRow> {
  return {
    row: ({ seq, kind }) => {
      findings.add({ seq, table: "api_keys", id: undefined }, { expected: `the key of ${kind}`, found: "none" });
    },
    end: () => undefined,
  };
}

class ApiKeyCheck implements GroupCheck<KeyJournalRow> {
  readonly #key: ApiKeyRow;
  readonly #book: AuditedBook;
  readonly #rows = new Map<number, KeyJournalRow>();

  constructor(key: ApiKeyRow, book: AuditedBook) {
    this.#key = key;
    this.#book = book;
  }

  row(row: KeyJournalRow): void {
    this.#rows.set(row.seq, row);
  }

  end(): void {
    const { id, name, secret_sha256: secret, scopes, expires_at: expiresAt } = this.#key;
    const expiry = expiresAt === null ? "" : String(expiresAt);
    const { seq, created_at: createdAt, revoked_seq: revokedSeq, revoked_at: revokedAt } = this.#key;
    this.#check("key.created", { seq, at: createdAt, created: [id, name, secret, scopes, expiry] });
    if (revokedSeq !== null || revokedAt !== null) {
      this.#check("key.revoked", { seq: revokedSeq ?? 0, at: revokedAt, created: [id] });
    }
  }

  #check(
    kind: KeyKind,
    { seq, at, created }: { readonly seq: number; readonly at: number | null; readonly created: readonly string[] },
  ): void {
    const { findings, secrets } = this.#book;
    const place: Place = { seq, table: "api_keys", id: this.#key.id };
    const row = this.#rows.get(seq);
    if (row?.kind !== kind) {
      findings.add(place, { expected: `the journal row ${kind} that it names`, found: row?.kind ?? "none" });
      return;
    }
    findings.compareFields(place, { [kind === "key.created" ? "created_at" : "revoked_at"]: [row.recorded_at, at] });
    if (secrets === undefined || hasHashOf({ accountId: null, transactionId: null, created }, row, secrets.salts))
      return;
    findings.add(place, { expected: "the key that gives the content_hash", found: "another key or content_hash" });
  }
}
