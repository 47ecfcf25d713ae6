import type { JournalKind } from "../domain/journal.js";
import { detailOfRailAccount } from "../domain/rail-account.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { API_KEYS, ORGANIZATIONS } from "../model/organizations.js";
import { RAIL_ACCOUNTS } from "../model/rails.js";
import type { Cell } from "./database.js";
import { contentHash } from "./secrets/content-hash.js";
import { rowMac } from "./secrets/row-mac.js";
import type { OpenBook } from "./sql/book-directory.js";
import type { Session } from "./sql/engine.js";
import {
  type ApiKeyRow,
  contentOfApiKey,
  contentOfOrganization,
  type OrganizationRow,
  storedApiKeyOf,
} from "./sql/organization-rows.js";
import { type RailAccountRow, writtenAccountOf } from "./sql/records/rail-account-rows.js";

/** The journal row that wrote a row. */
interface Written {
  readonly organization: string;
  readonly written_seq: number;
  readonly written_at: number;
  readonly detail: string | null;
  /** In hexadecimal. */
  readonly content_hash: string;
}

/** What rows from before a column existed mean. */
const BEFORE = { float_min_cents: 0 };

/**
 * Gives a `mac` to each row that the journal confirms. The hashes of the journal have secret salts.
 * So somebody with the database alone, who has taken the column away and runs its migration again,
 * gains nothing. A row without a `mac` gives no power.
 */
export async function bindRows(
  { engine, directory }: Pick<Cell, "engine" | "directory">,
  read: Session["read"],
): Promise<void> {
  const { table, hex, unhex } = engine;
  const rowsOf = async <Row>(name: string, owner: string, written: string): Promise<readonly (Row & Written)[]> => {
    const sql = `
      SELECT x.*, b.organization_id AS organization, j.seq AS written_seq, j.recorded_at AS written_at, j.detail,
        ${hex("j.content_hash")} AS content_hash
      FROM ${table(name)} x JOIN ${table("books")} b ON b.organization_id = x.${owner}
      JOIN ${table("journal")} j ON j.book = b.number AND ${written} ORDER BY j.seq`;
    return (await read({ sql, bindings: [] })) as readonly (Row & Written)[];
  };
  const bookOf = async ({ organization }: Written): Promise<OpenBook> => {
    const [book] = await directory.find([organization as OrganizationId], read);
    if (book === undefined) throw new Error(`the book of ${organization} has no keys`);
    return book;
  };
  const bind = async (name: string, id: string, mac: string): Promise<void> => {
    await read({ sql: `UPDATE ${table(name)} SET mac = ${unhex("?")} WHERE id = ? RETURNING id`, bindings: [mac, id] });
  };
  for (const row of await rowsOf<OrganizationRow>("organizations", "id", "j.seq = 1")) {
    const book = await bookOf(row);
    const isConfirmed = hasHash(book, row, { kind: "organization.created", created: contentOfOrganization(row) });
    if (isConfirmed) await bind("organizations", row.id, rowMac(book.keys, ORGANIZATIONS, row));
  }
  for (const row of await rowsOf<ApiKeyRow>("api_keys", "organization_id", "j.seq = x.seq")) {
    const book = await bookOf(row);
    const created = contentOfApiKey(storedApiKeyOf(row));
    const isConfirmed = hasHash(book, row, { kind: "key.created", created });
    if (isConfirmed) await bind("api_keys", row.id, rowMac(book.keys, API_KEYS, row));
  }
  const accounts = await rowsOf<RailAccountRow>("rail_accounts", "organization_id", "j.kind = 'rail.changed'");
  const newest = new Map<string, RailAccountRow & Written>();
  for (const row of accounts) if (saysOf(row)["id"] === row.id) newest.set(row.id, row);
  for (const row of newest.values()) {
    const book = await bookOf(row);
    const is = JSON.parse(detailOfRailAccount(writtenAccountOf(row))) as Record<string, unknown>;
    const said: Readonly<Record<string, unknown>> = { ...BEFORE, ...saysOf(row) };
    const isConfirmed =
      hasHash(book, row, { kind: "rail.changed", created: [row.detail ?? "", "", ""] }) &&
      Object.entries(is).every(([name, value]) => said[name] === value);
    if (isConfirmed) await bind("rail_accounts", row.id, rowMac(book.keys, RAIL_ACCOUNTS, row));
  }
}

function saysOf({ detail }: Written): Readonly<Record<string, unknown>> {
  return JSON.parse(detail ?? "{}") as Readonly<Record<string, unknown>>;
}

function hasHash(
  { salts }: OpenBook,
  { written_seq: seq, written_at: recordedAt, content_hash: found }: Written,
  { kind, created }: { readonly kind: JournalKind; readonly created: readonly string[] },
): boolean {
  return contentHash(salts.of(seq), { kind, transactionId: null, accountId: null, recordedAt, created }) === found;
}
