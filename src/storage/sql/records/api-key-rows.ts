import type { ApiKey, Scope, StoredApiKey } from "../../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { InsertedRow, RowOf } from "../../../model/column.js";
import { API_KEYS } from "../../../model/organizations.js";
import { rowMac } from "../../secrets/row-mac.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

export type ApiKeyRow = RowOf<typeof API_KEYS, Uint8Array> & {
  /** When the journal says that the key was revoked (`revokedAtByJournal`). */
  readonly revoked_at_by_journal?: number | null;
};

export const API_KEY_TABLE: Table<StoredApiKey, ApiKeyRow> = {
  name: "api_keys",
  key: "id",
  insertedRow: apiKeyRowOf,
  contentOf: contentOfApiKey,
  // Locks the keys in the order of their ids, as the notes of their use do.
  reads: (engine, { list }) => {
    const { table, within, forUpdate } = engine;
    const ids = `${list} UNION ALL SELECT id FROM ${table("api_keys")} WHERE secret_sha256 IN (${list})`;
    const sql = `
      SELECT k.*, ${revokedAtByJournal(engine)} FROM ${table("api_keys")} k
      WHERE ${within("k.id", ids)} ORDER BY k.id ${forUpdate}`;
    return [{ finders: ["apiKey", "apiKeyWithHash"], isAfterLock: true, sql }];
  },
  rowOf: storedApiKeyOf,
  // Its use is noted apart.
  updates: [{ sets: ["revoked_seq", "revoked_at", "mac"] }],
};

/** Returns a column: when the journal says that the key `k` was revoked, or NULL. */
export function revokedAtByJournal({ table, indexedBy }: Pick<Engine, "table" | "indexedBy">): string {
  return `(
    SELECT MIN(j.recorded_at) FROM ${table("journal")} j${indexedBy("journal_revoked_keys")}
    WHERE j.kind = 'key.revoked' AND j.detail = k.id
      AND j.book = (SELECT b.number FROM ${table("books")} b WHERE b.organization_id = k.organization_id)
  ) AS revoked_at_by_journal`;
}

/** Returns the fields of a new key that the content hash covers. They never change. */
function contentOfApiKey({ id, name, secretSha256, scopes, expiresAt }: StoredApiKey): readonly string[] {
  return [id, name, secretSha256, scopes.join(" "), expiresAt === undefined ? "" : String(expiresAt)];
}

function apiKeyRowOf(key: StoredApiKey, { book, seq, changedSeq }: RowPlace): InsertedRow<typeof API_KEYS> {
  const row = {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    secret_sha256: key.secretSha256,
    scopes: key.scopes.join(" "),
    seq,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    revoked_seq: key.revokedAt === undefined ? null : changedSeq,
    revoked_at: key.revokedAt ?? null,
    last_used_at: null,
  };
  return { ...row, mac: rowMac(book.keys, API_KEYS, row) };
}

export function storedApiKeyOf(row: ApiKeyRow): StoredApiKey {
  return { ...recordOf(row), secretSha256: row.secret_sha256 };
}

export function apiKeyOf(row: ApiKeyRow, cell: number): ApiKey {
  return {
    ...recordOf(row),
    cell,
    lastUsedAt: row.last_used_at === null ? undefined : toUnixMillis(row.last_used_at),
  };
}

/** An old copy of the row of a revoked key revives nothing: the journal decides. */
function recordOf(row: ApiKeyRow): Omit<ApiKey, "cell" | "lastUsedAt"> {
  const revokedAt = row.revoked_at ?? row.revoked_at_by_journal ?? null;
  return {
    id: row.id as ApiKeyId,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    scopes: row.scopes.split(" ") as Scope[],
    createdAt: toUnixMillis(row.created_at),
    expiresAt: row.expires_at === null ? undefined : toUnixMillis(row.expires_at),
    revokedAt: revokedAt === null ? undefined : toUnixMillis(revokedAt),
  };
}
