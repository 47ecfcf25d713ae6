import { hash } from "node:crypto";

import type { RailAccountId } from "../../domain/payment.js";
import type { Rail } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { PayoutMode } from "../../settlement/ports/rail-accounts.js";
import type { Cell } from "../database.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { decrypt, encrypt } from "../secrets/encryption.js";
import type { Engine } from "../sql/engine.js";
import type { RailAccountRow } from "../sql/records/rail-account-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** An organization's account at a rail, as it is stored. Its credentials stay encrypted. */
export interface StoredRailAccount {
  readonly id: RailAccountId;
  readonly organizationId: OrganizationId;
  /** Whether the organization is for tests. */
  readonly isSandbox: boolean;
  readonly rail: Rail;
  /** A JSON object. Each rail has fields of its own. */
  readonly settings: string;
  readonly sealedCredentials: Uint8Array | undefined;
  readonly credentialsExpireAt: UnixMillis | undefined;
  readonly payouts: PayoutMode;
  /** Why an operator chose that. May be empty. */
  readonly payoutsReason: string;
  /** Whether the organization's calls that name no rail are for this account. */
  readonly isDefault: boolean;
  readonly beginWithinMillis: number;
  readonly confirmAboveCents: Cents | 0;
  readonly resolveAloneMaxCents: Cents | 0;
  /** How often the account was set or changed. */
  readonly revision: number;
  readonly balance: StoredBalance | undefined;
  readonly updatedAt: UnixMillis;
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
  return {
    id: row.id as RailAccountId,
    organizationId: row.organization_id as OrganizationId,
    isSandbox: row.is_sandbox === 1,
    rail: row.rail as Rail,
    settings: row.settings,
    sealedCredentials: row.credentials ?? undefined,
    credentialsExpireAt: row.credentials_expire_at === null ? undefined : toUnixMillis(row.credentials_expire_at),
    payouts: row.payouts as PayoutMode,
    payoutsReason: row.payouts_reason,
    isDefault: row.is_usual === 1,
    beginWithinMillis: row.begin_within_millis,
    confirmAboveCents: row.confirm_above_cents as Cents | 0,
    resolveAloneMaxCents: row.resolve_alone_max_cents as Cents | 0,
    revision: row.revision,
    balance:
      row.balance === null || row.balance_at === null
        ? undefined
        : { json: row.balance, at: toUnixMillis(row.balance_at) },
    updatedAt: toUnixMillis(row.updated_at),
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
export function sealCredentials({ data }: Pick<BookKeys, "data">, owner: AccountOwner, credentials: string): Buffer {
  return encrypt(data, credentials, contextOf(owner));
}

/**
 * Throws a CredentialsError if the bytes or the settings were changed, or belong to another
 * account.
 */
export function openCredentials({ data }: Pick<BookKeys, "data">, owner: AccountOwner, sealed: Uint8Array): string {
  try {
    return decrypt(data, sealed, contextOf(owner)).toString("utf8");
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
