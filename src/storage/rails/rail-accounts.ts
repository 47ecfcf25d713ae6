import { createHmac, hash } from "node:crypto";

import type { RailAccountRecord } from "../../domain/rail-account.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { Sealed } from "../../domain/values/sealed.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import { isKeptHere } from "../moves/here.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { decrypt, encrypt, sealedOf } from "../secrets/encryption.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Session } from "../sql/engine.js";
import { isSandboxRow } from "../sql/organization-rows.js";
import { isWholeAccount, railAccountOf, type RailAccountRow } from "../sql/records/rail-account-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** An account at a rail, as lists read it. Its credentials stay encrypted. */
export interface StoredRailAccount extends RailAccountRecord {
  /** Whether the organization is for tests. */
  readonly isSandbox: boolean;
  /** Whether its row is as the service wrote it. */
  readonly isWhole: boolean;
  readonly balance: StoredBalance | undefined;
  /** From when on payments without an order are deposits. */
  readonly depositsSince: UnixMillis | undefined;
  /** When the list of received payments was read to its end last. */
  readonly depositsReadAt: UnixMillis | undefined;
}

/** What the rail told about the balance of the account. */
export interface StoredBalance {
  /** A JSON text. */
  readonly json: string;
  readonly at: UnixMillis;
}

type RailAccountsCell = Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/** Returns all accounts of a cell, in no order. */
export function storedRailAccounts(
  { engine, reader, directory }: RailAccountsCell & Pick<Cell, "directory">,
  read: Session["read"] = ({ sql, bindings }) => reader.rows(sql, bindings),
): Promise<readonly StoredRailAccount[]> {
  const accounts = engine.table("rail_accounts");
  const sandboxes = `
    SELECT * FROM ${engine.table("organizations")}
    WHERE is_sandbox = 1 AND id IN (SELECT organization_id FROM ${accounts})`;
  const reading = async (): Promise<readonly StoredRailAccount[]> => {
    const rows = await read<StoredRow>({ sql: `SELECT * FROM ${accounts}`, bindings: [] });
    const ids = [...new Set(rows.map((row) => row.organization_id as OrganizationId))];
    const books = new Map<string, OpenBook>();
    for (const book of await directory.find(ids, read)) books.set(book.organizationId, book);
    const found = await read<Parameters<typeof isSandboxRow>[0]>({ sql: sandboxes, bindings: [] });
    const ofTests = new Set(found.filter((row) => isSandboxRow(row, books.get(row.id)?.keys)).map(({ id }) => id));
    return rows.map((row) => {
      const book = books.get(row.organization_id);
      if (book === undefined) throw new Error(`the organization ${row.organization_id} has no book`);
      return { ...storedRailAccountOf(row, book), isSandbox: ofTests.has(row.organization_id) };
    });
  };
  return orStoreError(engine, reading());
}

/** Returns the account of an organization at a rail. */
export async function storedRailAccount(
  cell: Parameters<typeof storedRailAccounts>[0],
  organizationId: OrganizationId,
  railName: string,
): Promise<StoredRailAccount | undefined> {
  const stored = await storedRailAccounts(cell);
  return stored.find((each) => each.organizationId === organizationId && each.rail === railName);
}

/** What leads to an account. */
export type NamedRailAccount = Pick<StoredRailAccount, "id" | "organizationId" | "rail" | "isDefault">;

/** The beginning of `detailOfRailAccount`. */
const NAMES = /^\{"id":"([^"]*)","organization_id":"([^"]*)","rail":"([^"]*)"/;
const NAMES_CHARACTERS = 200;

/**
 * Returns the accounts that the journal names and their organizations lack. The service takes none
 * away. Each counts as the default one.
 */
export async function lostRailAccounts(
  { engine: { table }, reader }: RailAccountsCell,
  stored: readonly StoredRailAccount[],
): Promise<readonly NamedRailAccount[]> {
  const rows = await reader.rows<{ readonly names: string }>(`
    SELECT DISTINCT substr(j.detail, 1, ${String(NAMES_CHARACTERS)}) AS names
    FROM ${table("journal")} j JOIN ${table("books")} b ON b.number = j.book
    WHERE j.kind = 'rail.changed' AND ${isKeptHere({ table })}`);
  const present = new Set(stored.map(({ id, organizationId }) => `${organizationId} ${id}`));
  const named = new Map<string, NamedRailAccount>();
  for (const { names } of rows) {
    const [, id, organizationId, rail] = NAMES.exec(names) ?? [];
    const key = `${String(organizationId)} ${String(id)}`;
    if (!present.has(key)) named.set(key, { id, organizationId, rail, isDefault: true } as NamedRailAccount);
  }
  return [...named.values()];
}

/**
 * Returns a text that changes whenever an account does. Each change counts the account's `revision`
 * up. A balance is no change, nor is a warning, but for that of a credential which nobody may use.
 */
export async function railAccountsVersion({ engine, reader }: RailAccountsCell): Promise<string> {
  const sql = `
    SELECT COUNT(*) AS count, SUM(revision) AS revisions, MAX(updated_at) AS newest,
      SUM(CASE WHEN warnings LIKE '%"CREDENTIALS_REFUSED"%' THEN LENGTH(warnings) ELSE 0 END) AS refused
    FROM ${engine.table("rail_accounts")}`;
  const [row] = await orStoreError(engine, reader.rows<object>(sql));
  return JSON.stringify(row);
}

type StoredRow = RailAccountRow<Uint8Array>;

function storedRailAccountOf(row: StoredRow, book: OpenBook): Omit<StoredRailAccount, "isSandbox"> {
  const { balance: json, balance_at: at, deposits_since: since, deposits_read_at: readAt } = row;
  return {
    ...railAccountOf(row, book),
    isWhole: isWholeAccount(row, book),
    balance: json === null || at === null ? undefined : { json, at: toUnixMillis(at) },
    depositsSince: since === null ? undefined : toUnixMillis(since),
    depositsReadAt: readAt === null ? undefined : toUnixMillis(readAt),
  };
}

/** What credentials belong to. A change of any of it needs the credentials as well. */
type AccountOwner = Pick<
  StoredRailAccount,
  | "id"
  | "organizationId"
  | "rail"
  | "settings"
  | "credentialsExpireAt"
  | "beginWithinMillis"
  | "confirmAboveCents"
  | "resolveAloneMaxCents"
>;

/** Somebody has changed an account past the service. The message has no secret. */
export class ChangedRailAccountError extends Error {
  constructor({ id, rail }: Pick<StoredRailAccount, "id" | "rail">) {
    super(
      `The account ${id} was changed in the database, past the service. Nothing is sent. ` +
        `Run kesc verify, then set the account again: kesc rail set ${rail}`,
    );
    this.name = "ChangedRailAccountError";
  }
}

/** Encrypts credentials. They can be read only in this account, and only with these settings. */
export function sealCredentials({ data }: Pick<BookKeys, "data">, owner: AccountOwner, credentials: string): Sealed {
  return sealedOf(encrypt(data, credentials, contextOf(owner)));
}

/**
 * Returns an HMAC of credentials, in hexadecimal. Equal credentials have equal ones, and without
 * the key of the book nobody can try passwords.
 */
export function hmacOfCredentials({ index }: Pick<BookKeys, "index">, credentials: string): string {
  return createHmac("sha256", index)
    .update(JSON.stringify(["kesc-rail-credentials-1", credentials]))
    .digest("hex");
}

/**
 * Throws a ChangedRailAccountError if the bytes or the settings were changed, or belong to another
 * account.
 */
export function openCredentials({ data }: Pick<BookKeys, "data">, owner: AccountOwner, sealed: Sealed): string {
  try {
    return decrypt(data, Buffer.from(sealed.hex, "hex"), contextOf(owner)).toString("utf8");
  } catch {
    throw new ChangedRailAccountError(owner);
  }
}

/**
 * Returns what the credentials are encrypted for. Without the settings in it, a person who can only
 * write the database could send the credentials to another address.
 */
export function contextOf({ id, organizationId, rail, settings, ...limits }: AccountOwner): string[] {
  const { credentialsExpireAt, beginWithinMillis, confirmAboveCents, resolveAloneMaxCents } = limits;
  const numbers = [credentialsExpireAt ?? null, beginWithinMillis, confirmAboveCents, resolveAloneMaxCents];
  const digest = hash("sha256", JSON.stringify([rail, settings, ...numbers]), "hex");
  return ["kesc-rail-account-2", organizationId, id, "credentials", digest];
}
