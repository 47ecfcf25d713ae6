import type { ApiKey, Organization, Scope, StoredApiKey } from "../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { API_KEYS, ORGANIZATIONS } from "../../model/organizations.js";
import type { BookKeysRow } from "../secrets/book-keys.js";

export type OrganizationRow = RowOf<typeof ORGANIZATIONS>;

export type ApiKeyRow = RowOf<typeof API_KEYS>;

/** Returns the fields of a new key that the content hash covers. They never change. */
export function contentOfApiKey({ id, name, secretSha256, scopes, expiresAt }: StoredApiKey): readonly string[] {
  return [id, name, secretSha256, scopes.join(" "), expiresAt === undefined ? "" : String(expiresAt)];
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

/** The row of an organization, with the switches of its book. */
export type ListedOrganizationRow = OrganizationRow & {
  readonly suspended_seq: number | null;
  readonly receipts_required_seq: number | null;
};

export function organizationOf(row: ListedOrganizationRow, cell: number): Organization {
  return {
    id: row.id as OrganizationId,
    cell,
    name: row.name,
    isSandbox: row.is_sandbox === 1,
    isSuspended: row.suspended_seq !== null,
    areReceiptsRequired: row.receipts_required_seq !== null,
    createdAt: toUnixMillis(row.created_at),
  };
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

function recordOf(row: ApiKeyRow): Omit<ApiKey, "cell" | "lastUsedAt"> {
  return {
    id: row.id as ApiKeyId,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    scopes: row.scopes.split(" ") as Scope[],
    createdAt: toUnixMillis(row.created_at),
    expiresAt: row.expires_at === null ? undefined : toUnixMillis(row.expires_at),
    revokedAt: row.revoked_at === null ? undefined : toUnixMillis(row.revoked_at),
  };
}
