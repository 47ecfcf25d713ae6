import type { RailAccountId } from "../../domain/payment.js";
import type { Rail } from "../../domain/transaction.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { PayoutMode } from "../../settlement/ports/rail-accounts.js";
import type { Cell, Database } from "../database.js";
import type { Session } from "../sql/engine.js";
import { RAIL_ACCOUNT_CHANGES, RAIL_ACCOUNT_COLUMNS, type RailAccountRow } from "../sql/records/rail-account-rows.js";
import { orStoreError } from "../sql/store-error.js";
import {
  railAccountsSql,
  sealCredentials,
  type StoredBalance,
  type StoredRailAccount,
  storedRailAccountOf,
  type StoredRailAccountRow,
} from "./rail-accounts.js";

/** What an operator sets about an account at a rail. */
export interface RailAccountSetting extends Omit<
  StoredRailAccount,
  "isSandbox" | "sealedCredentials" | "payouts" | "payoutsReason" | "balance" | "updatedAt"
> {
  /** A JSON object; undefined if the rail needs none. */
  readonly credentials: string | undefined;
}

/** The limits of an account for which an operator has set no others. */
export const USUAL_LIMITS = {
  beginWithinMillis: 120_000,
  confirmAboveCents: 0,
  resolveAloneMaxCents: 0,
} as const satisfies Partial<RailAccountSetting>;

type Cells = Pick<Database, "cells">;

/**
 * Stores an account at a rail, in place of an earlier one with the same id. `check` sees all
 * accounts of all cells, and throws if the new one must not be stored: no other change comes
 * between. Payouts of a new account are `auto`; those of an earlier one stay as they are.
 */
export function saveRailAccount(
  { cells }: Cells,
  { setting, cell, now }: { readonly setting: RailAccountSetting; readonly cell: Cell; readonly now: UnixMillis },
  check: (all: readonly StoredRailAccount[]) => void,
): Promise<void> {
  return changing(cell, now, async (session, updatedAt) => {
    const all: StoredRailAccount[] = [];
    // On this transaction's connection: the pool may have no other.
    for (const { engine } of cells) {
      const rows = await session.read({ sql: railAccountsSql(engine), bindings: [] });
      all.push(...(rows as readonly StoredRailAccountRow[]).map(storedRailAccountOf));
    }
    check(all);
    const [book] = await cell.directory.find([setting.organizationId], (read) => session.read(read));
    if (book === undefined) throw new Error(`the organization ${setting.organizationId} has no book`);
    if (setting.isUsual) await clearUsual(cell, session, { organizationId: setting.organizationId, updatedAt });
    const { table, insertInto, update } = cell.engine;
    const earlier = all.find(({ id }) => id === setting.id);
    const row = rowOf(setting, {
      credentials:
        setting.credentials === undefined
          ? null
          : sealCredentials(book.keys, setting, setting.credentials).toString("hex"),
      payouts: earlier?.payouts ?? "auto",
      payoutsReason: earlier?.payoutsReason ?? "",
      updatedAt,
    });
    const name = table("rail_accounts");
    const sql =
      earlier === undefined
        ? insertInto(name, RAIL_ACCOUNT_COLUMNS)
        : update(name, { key: "id", columns: RAIL_ACCOUNT_CHANGES });
    await session.write([{ sql, rows: [row] }]);
  });
}

/** Sets whether payouts of the account begin. Returns false if there is no such account. */
export function setPayouts(
  cell: Cell,
  account: { readonly organizationId: OrganizationId; readonly rail: Rail },
  { payouts, reason, now }: { readonly payouts: PayoutMode; readonly reason: string; readonly now: UnixMillis },
): Promise<boolean> {
  return changing(cell, now, async (session, updatedAt) => {
    const sql = `
      UPDATE ${cell.engine.table("rail_accounts")} SET payouts = ?, payouts_reason = ?, updated_at = ?
      WHERE organization_id = ? AND rail = ? RETURNING id`;
    const bindings = [payouts, reason, updatedAt, account.organizationId, account.rail];
    return (await session.read({ sql, bindings })).length > 0;
  });
}

/** Makes the direct rail the organization's usual one. Returns false if it was so before. */
export function makeDirectUsual(
  cell: Cell,
  { organizationId, now }: { readonly organizationId: OrganizationId; readonly now: UnixMillis },
): Promise<boolean> {
  return changing(cell, now, (session, updatedAt) => clearUsual(cell, session, { organizationId, updatedAt }));
}

/** Notes what the rail told about the balance, unless a later balance is known. */
export async function noteBalance(
  { engine, transact }: Pick<Cell, "engine" | "transact">,
  id: RailAccountId,
  { json, at }: StoredBalance,
): Promise<void> {
  const sql = `
    UPDATE ${engine.table("rail_accounts")} SET balance = ?, balance_at = ?
    WHERE id = ? AND (balance_at IS NULL OR balance_at <= ?) RETURNING id`;
  await orStoreError(
    engine,
    transact((session) => session.read({ sql, bindings: [json, at, id, at] })),
  );
}

async function clearUsual(
  { engine: { table } }: Cell,
  session: Session,
  { organizationId, updatedAt }: { readonly organizationId: OrganizationId; readonly updatedAt: number },
): Promise<boolean> {
  const sql = `
    UPDATE ${table("rail_accounts")} SET is_usual = 0, updated_at = ?
    WHERE organization_id = ? AND is_usual = 1 RETURNING id`;
  return (await session.read({ sql, bindings: [updatedAt, organizationId] })).length > 0;
}

/** Changes of rail accounts in all cells run one after another. */
function changing<Result>(
  { engine, transact }: Cell,
  now: UnixMillis,
  change: (session: Session, updatedAt: number) => Promise<Result>,
): Promise<Result> {
  return transact(async (session) => {
    await session.read({ sql: engine.administrationLock, bindings: [] });
    const sql = `SELECT MAX(updated_at) AS newest FROM ${engine.table("rail_accounts")}`;
    const [row] = (await session.read({ sql, bindings: [] })) as readonly [{ readonly newest: number | null }];
    // `railAccountsVersion` must change, even if the clock of this machine is behind.
    return change(session, Math.max(now, (row.newest ?? 0) + 1));
  });
}

type WrittenRow = Pick<RailAccountRow<string>, keyof typeof RAIL_ACCOUNT_COLUMNS>;

function rowOf(
  setting: RailAccountSetting,
  stored: Pick<StoredRailAccount, "payouts" | "payoutsReason"> & {
    readonly credentials: string | null;
    readonly updatedAt: number;
  },
): WrittenRow {
  return {
    id: setting.id,
    organization_id: setting.organizationId,
    rail: setting.rail,
    settings: setting.settings,
    credentials: stored.credentials,
    credentials_expire_at: setting.credentialsExpireAt ?? null,
    payouts: stored.payouts,
    payouts_reason: stored.payoutsReason,
    is_usual: setting.isUsual ? 1 : 0,
    begin_within_millis: setting.beginWithinMillis,
    confirm_above_cents: setting.confirmAboveCents,
    resolve_alone_max_cents: setting.resolveAloneMaxCents,
    created_at: stored.updatedAt,
    updated_at: stored.updatedAt,
  };
}
