import type { FoundOrganization } from "../../domain/api-key.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { InsertedRow, RowOf } from "../../model/column.js";
import { ORGANIZATIONS } from "../../model/organizations.js";
import type { BookKeys, BookKeysRow } from "../secrets/book-keys.js";
import { hasTrueMac, rowMac } from "../secrets/row-mac.js";

/** The row of an organization, before its book has keys. */
export type OrganizationRow = Omit<RowOf<typeof ORGANIZATIONS>, "mac">;

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
