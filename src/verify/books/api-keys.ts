import type { JournalKind } from "../../domain/journal.js";
import type { RowOf } from "../../model/column.js";
import { API_KEYS } from "../../model/organizations.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { guarded } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC, checkHash, type HashedRow, proofsIn } from "./content.js";
import { type AuditedJournalRow, newerRows } from "./journal-rows.js";

export type AuditedApiKeyRow = RowOf<typeof API_KEYS>;

type KeysJournalRow = HashedRow & Pick<AuditedJournalRow, "detail">;
type KeyKind = Extract<JournalKind, `key.${string}`>;

/**
 * Compares each API key of one book with the rows of the journal that created and revoked it, and
 * each of those rows with a key. Counts the keys.
 */
export class ApiKeysAudit {
  readonly table = "api_keys";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  /** The rows about keys, by their seq. */
  readonly #rows = new Map<number, KeysJournalRow>();
  #keys: ReadonlyMap<string, AuditedApiKeyRow> = new Map();

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Reads the keys. Those of the rows up to the head are among them. */
  async begin(): Promise<void> {
    const keys = await this.#audit.rows<AuditedApiKeyRow>(
      `SELECT * FROM ${this.#audit.engine.table("api_keys")} WHERE organization_id = ?`,
      [this.#book.row.organization_id],
    );
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#audit.coverage.apiKeys += keys.length;
  }

  /** Returns the key with this id, as its row says. `end` compares the row with the journal. */
  key(id: string): AuditedApiKeyRow | undefined {
    return this.#keys.get(id);
  }

  /** Takes the rows of the book up to its head. */
  row({ seq, kind, recorded_at, content_hash, detail }: AuditedJournalRow): void {
    if (kind !== "key.created" && kind !== "key.revoked") return;
    this.#rows.set(seq, { seq, kind, recorded_at, content_hash, detail });
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const { row: book, findings } = this.#book;
    const keys = [...this.#keys.values()];
    const lost = new Map(this.#rows);
    if (keys.some(({ seq, revoked_seq: revokedSeq }) => Math.max(seq, revokedSeq ?? 0) > (book.head ?? 0))) {
      for await (const row of newerRows(this.#audit, book)) this.row(row);
    }
    for (const key of keys) {
      lost.delete(key.seq);
      if (key.revoked_seq !== null) lost.delete(key.revoked_seq);
      guarded(findings, { seq: key.seq, table: "api_keys", id: key.id }, () => {
        this.#compare(key);
      });
    }
    for (const { seq, kind } of lost.values()) {
      findings.add({ seq, table: "api_keys", id: undefined }, { expected: `the key of ${kind}`, found: "none" });
    }
  }

  #compare(key: AuditedApiKeyRow): void {
    const { secrets, findings } = this.#book;
    const { id, name, secret_sha256: secret, scopes, expires_at: expiresAt } = key;
    if (secrets !== undefined && !hasTrueMac(secrets.keys, API_KEYS, key)) {
      findings.add({ seq: key.seq, table: "api_keys", id }, ANOTHER_MAC);
    }
    const expiry = expiresAt === null ? "" : String(expiresAt);
    const { seq, created_at: createdAt, revoked_seq: revokedSeq, revoked_at: revokedAt } = key;
    this.#check(id, "key.created", { seq, at: createdAt, created: [id, name, secret, scopes, expiry] });
    if (revokedSeq !== null || revokedAt !== null) {
      this.#check(id, "key.revoked", {
        seq: revokedSeq ?? 0,
        at: revokedAt,
        created: proofsIn({ detail: id, rail_receipt: null }),
      });
    }
  }

  #check(
    id: string,
    kind: KeyKind,
    { seq, at, created }: { readonly seq: number; readonly at: number | null; readonly created: readonly string[] },
  ): void {
    const { findings } = this.#book;
    const place: Place = { seq, table: "api_keys", id };
    const row = this.#rows.get(seq);
    if (row?.kind !== kind) {
      findings.add(place, { expected: `the journal row ${kind} that it names`, found: row?.kind ?? "none" });
      return;
    }
    const isEnd = kind === "key.revoked";
    findings.compareFields(place, { [isEnd ? "revoked_at" : "created_at"]: [row.recorded_at, at] });
    // Servers ask this detail whether the key was revoked.
    if (isEnd) findings.compareFields({ seq, table: "journal", id }, { detail: [id, row.detail] });
    const texts = { expected: "the key that gives the content_hash", found: "another key or content_hash" };
    checkHash(this.#book, row, { created }, { place, ...texts });
  }
}
