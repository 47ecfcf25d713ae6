import { createHmac, hash } from "node:crypto";

import type { RailAccountRecord } from "../../domain/rail-account.js";
import type { Sealed } from "../../domain/values/sealed.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { decrypt, encrypt, sealedOf } from "../secrets/encryption.js";
import type { Engine } from "../sql/engine.js";
import { railAccountOf, type RailAccountRow } from "../sql/records/rail-account-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** An account at a rail, as lists read it. Its credentials stay encrypted. */
export interface StoredRailAccount extends RailAccountRecord {
  /** Whether the organization is for tests. */
  readonly isSandbox: boolean;
  readonly balance: StoredBalance | undefined;
}

/** What the rail told about the balance of the account. */
export interface StoredBalance {
  /** A JSON text. */
  readonly json: string;
  readonly at: UnixMillis;
}

export type StoredRailAccountRow = RailAccountRow<Uint8Array> & { readonly is_sandbox: number };

type RailAccountsCell = Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/** Returns all accounts of a cell, in no order. */
export async function storedRailAccounts({ engine, reader }: RailAccountsCell): Promise<readonly StoredRailAccount[]> {
  const reading = reader.rows<StoredRailAccountRow>(railAccountsSql(engine));
  return (await orStoreError(engine, reading)).map(storedRailAccountOf);
}

export function railAccountsSql({ table }: Pick<Engine, "table">): string {
  return `
    SELECT a.*, o.is_sandbox
    FROM ${table("rail_accounts")} a JOIN ${table("organizations")} o ON o.id = a.organization_id`;
}

/**
 * Returns a text that changes whenever an account does. Each change counts the account's `revision`
 * up. A balance is no change.
 */
export async function railAccountsVersion({ engine, reader }: RailAccountsCell): Promise<string> {
  const sql = `
    SELECT COUNT(*) AS count, SUM(revision) AS revisions, MAX(updated_at) AS newest
    FROM ${engine.table("rail_accounts")}`;
  const [row] = await orStoreError(engine, reader.rows<object>(sql));
  return JSON.stringify(row);
}

export function storedRailAccountOf(row: StoredRailAccountRow): StoredRailAccount {
  const { is_sandbox: isSandbox, balance: json, balance_at: at } = row;
  const balance = json === null || at === null ? undefined : { json, at: toUnixMillis(at) };
  return { ...railAccountOf(row), isSandbox: isSandbox === 1, balance };
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

/** The credentials of an account cannot be read with its settings. The message has no secret. */
export class CredentialsError extends Error {
  constructor({ id, rail }: Pick<StoredRailAccount, "id" | "rail">) {
    super(
      `The settings of ${id} and its credentials do not belong together: somebody changed one of them in the ` +
        `database. Nothing is sent. Run kesc verify, then set the account again: kesc rail set ${rail}`,
    );
    this.name = "CredentialsError";
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
 * Throws a CredentialsError if the bytes or the settings were changed, or belong to another
 * account.
 */
export function openCredentials({ data }: Pick<BookKeys, "data">, owner: AccountOwner, sealed: Sealed): string {
  try {
    return decrypt(data, Buffer.from(sealed.hex, "hex"), contextOf(owner)).toString("utf8");
  } catch {
    throw new CredentialsError(owner);
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
