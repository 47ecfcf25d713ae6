import type { RailAccountId } from "../../../domain/payment.js";
import type { PayoutMode, RailAccountRecord, StandingWarnings } from "../../../domain/rail-account.js";
import type { Rail } from "../../../domain/transaction.js";
import type { Cents } from "../../../domain/values/cents.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { RAIL_ACCOUNTS } from "../../../model/rails.js";
import { sealedOf } from "../../secrets/encryption.js";
import { hasTrueMac, rowMac } from "../../secrets/row-mac.js";
import type { OpenBook } from "../book-directory.js";
import { changesOnly, type RowPlace, type Table } from "../table.js";

/** A row of `rail_accounts`, as both drivers read it. */
export type RailAccountRow<Bytes = Buffer> = RowOf<typeof RAIL_ACCOUNTS, Bytes>;

export const RAIL_ACCOUNT_TABLE: Table<RailAccountRecord, RailAccountRow> = {
  name: "rail_accounts",
  key: "id",
  insertedRow: railAccountRowOf,
  reads: ({ table }, { list }) => [
    {
      finders: ["railAccounts"],
      isAfterLock: true,
      sql: `SELECT * FROM ${table("rail_accounts")} WHERE organization_id IN (${list}) ORDER BY id`,
    },
  ],
  rowOf: railAccountOf,
  updates: [
    // A warning is nobody's decision: it makes no row whole that somebody has changed.
    { sets: ["warnings"], fits: changesOnly(["warnings"]) },
    { sets: changedNamesOf(RAIL_ACCOUNTS) },
  ],
};

/**
 * Maps a row. One that was changed past the service is the default account and pays nothing out, so
 * that no call without a rail becomes a direct one. A change of the account makes it whole again.
 */
export function railAccountOf(row: RailAccountRow<Uint8Array>, book: Pick<OpenBook, "keys">): RailAccountRecord {
  const account = writtenAccountOf(row);
  if (isWholeAccount(row, book)) return account;
  return { ...account, payouts: "closed", isDefault: true, resolveAloneMaxCents: 0 };
}

/** Returns whether the service wrote the row as it is. */
export function isWholeAccount(row: RailAccountRow<Uint8Array>, { keys }: Pick<OpenBook, "keys">): boolean {
  return hasTrueMac(keys, RAIL_ACCOUNTS, row) && warningsIn(row) !== undefined;
}

/** Maps a row, whether it is whole or not. */
function writtenAccountOf(row: RailAccountRow<Uint8Array>): RailAccountRecord {
  return {
    id: row.id as RailAccountId,
    organizationId: row.organization_id as OrganizationId,
    rail: row.rail as Rail,
    settings: row.settings,
    credentials: row.credentials === null ? undefined : sealedOf(row.credentials),
    credentialsExpireAt: row.credentials_expire_at === null ? undefined : toUnixMillis(row.credentials_expire_at),
    payouts: row.payouts as PayoutMode,
    payoutsReason: row.payouts_reason,
    isDefault: row.is_usual === 1,
    beginWithinMillis: row.begin_within_millis,
    confirmAboveCents: row.confirm_above_cents as Cents | 0,
    resolveAloneMaxCents: row.resolve_alone_max_cents as Cents | 0,
    floatMinCents: row.float_min_cents as Cents | 0,
    revision: row.revision,
    warnings: warningsIn(row) ?? {},
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** Returns undefined for a text that the service has not written. */
export function warningsIn({ warnings }: Pick<RailAccountRow, "warnings">): StandingWarnings | undefined {
  try {
    return JSON.parse(warnings) as StandingWarnings;
  } catch {
    return undefined;
  }
}

/** The credentials are hexadecimal, as every `bytes` column is written. */
function railAccountRowOf(account: RailAccountRecord, { book }: RowPlace): InsertedRow<typeof RAIL_ACCOUNTS> {
  const row = {
    id: account.id,
    organization_id: account.organizationId,
    rail: account.rail,
    settings: account.settings,
    credentials: account.credentials?.hex ?? null,
    credentials_expire_at: account.credentialsExpireAt ?? null,
    payouts: account.payouts,
    payouts_reason: account.payoutsReason,
    is_usual: account.isDefault ? 1 : 0,
    begin_within_millis: account.beginWithinMillis,
    confirm_above_cents: account.confirmAboveCents,
    resolve_alone_max_cents: account.resolveAloneMaxCents,
    float_min_cents: account.floatMinCents,
    revision: account.revision,
    warnings: JSON.stringify(account.warnings),
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
  return { ...row, mac: rowMac(book.keys, RAIL_ACCOUNTS, row) };
}
