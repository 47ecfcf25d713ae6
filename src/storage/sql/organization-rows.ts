import type { ApiKey, FoundOrganization, Scope, StoredApiKey } from "../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { InsertedRow, RowOf } from "../../model/column.js";
import { API_KEYS, ORGANIZATIONS } from "../../model/organizations.js";
import type { BookKeys, BookKeysRow } from "../secrets/book-keys.js";
import { hasTrueMac, rowMac } from "../secrets/row-mac.js";
import type { OpenBook } from "./book-directory.js";
import type { Engine } from "./engine.js";

/** The row of an organization, before its book has keys. */
export type OrganizationRow = Omit<RowOf<typeof ORGANIZATIONS>, "mac">;

export type ApiKeyRow = RowOf<typeof API_KEYS, Uint8Array> & {
  /** When the journal says that the key was revoked (`revokedAtByJournal`). */
  readonly revoked_at_by_journal?: number | null;
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
export function contentOfApiKey({ id, name, secretSha256, scopes, expiresAt }: StoredApiKey): readonly string[] {
  return [id, name, secretSha256, scopes.join(" "), expiresAt === undefined ? "" : String(expiresAt)];
}

interface ApiKeyPlace extends Pick<OpenBook, "keys"> {
  /** The `seq` of the journal row that created the key. */
  readonly seq: number;
  /** The `seq` of the row that revoked it, if one did. */
  readonly changedSeq: number;
}

export function apiKeyRowOf(key: StoredApiKey, { keys, seq, changedSeq }: ApiKeyPlace): InsertedRow<typeof API_KEYS> {
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
  return { ...row, mac: rowMac(keys, API_KEYS, row) };
}

export function storedApiKeyOf(row: ApiKeyRow): StoredApiKey {
  return { ...recordOf(row), secretSha256: row.secret_sha256 };
}

/** Returns the row as a Write takes it, with its bytes in hexadecimal. */
export function bookKeysHexOf({
  data_key,
  index_key,
  seal_secret,
  master_key_id,
}: BookKeysRow): Readonly<Record<keyof BookKeysRow, string>> {
  return {
    data_key: data_key.toString("hex"),
    index_key: index_key.toString("hex"),
    seal_secret: seal_secret.toString("hex"),
    master_key_id,
  };
}

/** Returns the row of a new organization. */
export function newOrganizationRow(row: OrganizationRow, keys: BookKeys): InsertedRow<typeof ORGANIZATIONS> {
  return { ...row, mac: rowMac(keys, ORGANIZATIONS, row) };
}

/** The row of an organization, with the switches of its book. */
export type ListedOrganizationRow = RowOf<typeof ORGANIZATIONS, Uint8Array> & {
  readonly suspended_seq: number | null;
  readonly receipts_required_seq: number | null;
};

/** Maps a row. A changed one counts as that of a live organization. */
export function organizationOf(
  row: ListedOrganizationRow,
  { cell, keys }: { readonly cell: number; readonly keys: BookKeys | undefined },
): FoundOrganization {
  const organization = {
    id: row.id as OrganizationId,
    cell,
    name: row.name,
    isSandbox: isSandboxRow(row, keys),
    isSuspended: row.suspended_seq !== null,
    areReceiptsRequired: row.receipts_required_seq !== null,
    createdAt: toUnixMillis(row.created_at),
  };
  return isOwnRow(row, keys) ? organization : { changed: organization };
}

/** Nobody makes a live organization one for tests in the database, and its mints free. */
export function isSandboxRow(
  row: RowOf<typeof ORGANIZATIONS, Uint8Array>,
  keys: Pick<BookKeys, "index"> | undefined,
): boolean {
  return row.is_sandbox === 1 && isOwnRow(row, keys);
}

/** Returns whether the service wrote the row as it is. */
export function isOwnRow(
  row: RowOf<typeof ORGANIZATIONS, Uint8Array>,
  keys: Pick<BookKeys, "index"> | undefined,
): boolean {
  return keys !== undefined && hasTrueMac(keys, ORGANIZATIONS, row);
}

/** Returns the fields of a new organization that the content hash covers. They never change. */
export function contentOfOrganization({ name, is_sandbox: isSandbox }: OrganizationRow): readonly string[] {
  return [name, String(isSandbox)];
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
