import type { ApiKey, Organization, Scope } from "../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { BookKeysRow } from "../secrets/book-keys.js";
import type { Columns, ColumnType } from "./engine.js";

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  /** 0 or 1. */
  readonly is_sandbox: number;
  readonly created_at: number;
}

export interface ApiKeyRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly secret_sha256: string;
  readonly scopes: string;
  readonly seq: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_seq: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

export const ORGANIZATION_COLUMNS = {
  id: "text",
  name: "text",
  is_sandbox: "int64",
  created_at: "int64",
} as const satisfies Record<keyof OrganizationRow, ColumnType>;

export const API_KEY_COLUMNS = {
  id: "text",
  organization_id: "text",
  name: "text",
  secret_sha256: "text",
  scopes: "text",
  seq: "int64",
  created_at: "int64",
  expires_at: "int64",
  revoked_seq: "int64",
  revoked_at: "int64",
  last_used_at: "int64",
} as const satisfies Record<keyof ApiKeyRow, ColumnType>;

/** Returns the fields of a new key that the content hash covers. They never change. */
export function contentOfApiKey(row: ApiKeyRow): readonly string[] {
  return [row.id, row.name, row.secret_sha256, row.scopes, row.expires_at === null ? "" : String(row.expires_at)];
}

export const BOOK_KEYS_COLUMNS = {
  book: "int64",
  data_key: "bytes",
  index_key: "bytes",
  seal_secret: "bytes",
  master_key_id: "text",
} as const satisfies Columns;

export const OPERATOR_KEY_COLUMNS = {
  id: "int64",
  chain_key: "bytes",
  master_key_id: "text",
} as const satisfies Columns;

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

/** The row of an organization, with the row of its book that suspended it. */
export type ListedOrganizationRow = OrganizationRow & { readonly suspended_seq: number | null };

export function organizationOf(row: ListedOrganizationRow, cell: number): Organization {
  return {
    id: row.id as OrganizationId,
    cell,
    name: row.name,
    isSandbox: row.is_sandbox === 1,
    isSuspended: row.suspended_seq !== null,
    createdAt: toUnixMillis(row.created_at),
  };
}

/** Returns the fields of a new organization that the content hash covers. They never change. */
export function contentOfOrganization({ name, is_sandbox: isSandbox }: OrganizationRow): readonly string[] {
  return [name, String(isSandbox)];
}

export function apiKeyOf(row: ApiKeyRow, cell: number): ApiKey {
  return {
    id: row.id as ApiKeyId,
    organizationId: row.organization_id as OrganizationId,
    cell,
    name: row.name,
    scopes: row.scopes.split(" ") as Scope[],
    createdAt: toUnixMillis(row.created_at),
    expiresAt: row.expires_at === null ? undefined : toUnixMillis(row.expires_at),
    revokedAt: row.revoked_at === null ? undefined : toUnixMillis(row.revoked_at),
    lastUsedAt: row.last_used_at === null ? undefined : toUnixMillis(row.last_used_at),
  };
}
