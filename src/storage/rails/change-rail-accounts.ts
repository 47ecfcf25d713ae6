import { hash } from "node:crypto";

import type { RailAccountId } from "../../domain/payment.js";
import type { Rail } from "../../domain/transaction.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, insertedTypesOf, typesOf } from "../../model/column.js";
import { RAIL_ACCOUNTS } from "../../model/rails.js";
import type { PayoutMode } from "../../settlement/ports/rail-accounts.js";
import type { Cell, Database } from "../database.js";
import { bookRowWrites, lockBook, type LockedBook } from "../organizations/book-rows.js";
import type { Session } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";
import { paymentsUnderWaySql } from "./payments.js";
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
  "isSandbox" | "sealedCredentials" | "payouts" | "payoutsReason" | "revision" | "balance" | "updatedAt"
> {
  /** A JSON object; undefined if the rail needs none. */
  readonly credentials: string | undefined;
}

/** The limits of an account for which an operator has set no others. */
export const DEFAULT_LIMITS = {
  beginWithinMillis: 120_000,
  confirmAboveCents: 0,
  resolveAloneMaxCents: 0,
} as const satisfies Partial<RailAccountSetting>;

type RailCells = Pick<Database, "cells">;

/** What a change of an account must fit to. No other change and no payment comes between. */
export interface Present {
  /** All accounts of all cells. */
  readonly all: readonly StoredRailAccount[];
  /** The payments that the account at the rail may have, and whose outcome is open. */
  readonly paymentsUnderWay: number;
}

/**
 * Stores an account at a rail, in place of an earlier one with the same id, with a row in the
 * organization's book. `check` throws if the new one must not be stored. Payouts of a new account
 * are `auto`; those of an earlier one stay as they are. Rejects with the errors of `lockBook`.
 */
export function saveRailAccount(
  { cells }: RailCells,
  { setting, cell, now }: { readonly setting: RailAccountSetting; readonly cell: Cell; readonly now: UnixMillis },
  check: (present: Present) => void,
): Promise<void> {
  const { organizationId } = setting;
  return changing(cell, { organizationId, now }, async (session, book) => {
    const all: StoredRailAccount[] = [];
    // On this transaction's connection: the pool may have no other.
    for (const { engine } of cells) {
      const rows = await session.read({ sql: railAccountsSql(engine), bindings: [] });
      all.push(...(rows as readonly StoredRailAccountRow[]).map(storedRailAccountOf));
    }
    // The book is locked, so no payment begins before this change is committed.
    const underWay = { sql: paymentsUnderWaySql(cell.engine), bindings: [setting.id] };
    const [{ count }] = (await session.read(underWay)) as readonly [{ readonly count: number }];
    check({ all, paymentsUnderWay: count });
    const [keys] = await cell.directory.find([organizationId], (read) => session.read(read));
    if (keys === undefined) throw new Error(`the organization ${organizationId} has no book`);
    const { credentials } = setting;
    const sealed = credentials === undefined ? null : sealCredentials(keys.keys, setting, credentials).toString("hex");
    const own = await ownRows(cell, session, organizationId);
    const earlier = own.find(({ id }) => id === setting.id);
    const former = setting.isDefault ? own.filter(({ id, is_usual: is }) => is === 1 && id !== setting.id) : [];
    await write(cell, session, book, {
      // The unique index of default accounts: the old one goes first.
      rows: [...former.map((row) => ({ ...row, is_usual: 0 })), rowOf(setting, sealed, earlier)],
      isNew: earlier === undefined,
    });
  });
}

/** Sets whether payouts of the account begin. Returns false if there is no such account. */
export function setPayouts(
  cell: Cell,
  { organizationId, rail }: { readonly organizationId: OrganizationId; readonly rail: Rail },
  { payouts, reason, now, actor }: PayoutsChange,
): Promise<boolean> {
  return changing(cell, { organizationId, now }, async (session, book) => {
    const rows = (await ownRows(cell, session, organizationId)).filter((row) => row.rail === rail);
    const changed = rows.map((row) => ({ ...row, payouts, payouts_reason: reason }));
    await write(cell, session, book, { rows: changed, actor });
    return rows.length > 0;
  });
}

interface PayoutsChange {
  readonly payouts: PayoutMode;
  readonly reason: string;
  readonly now: UnixMillis;
  /** Who decided it. The operator when omitted. */
  readonly actor?: Actor;
}

/** Makes the direct rail the organization's default one. Returns false if it was so before. */
export function makeDirectDefault(
  cell: Cell,
  { organizationId, now }: { readonly organizationId: OrganizationId; readonly now: UnixMillis },
): Promise<boolean> {
  return changing(cell, { organizationId, now }, async (session, book) => {
    const rows = (await ownRows(cell, session, organizationId)).filter((row) => row.is_usual === 1);
    await write(cell, session, book, { rows: rows.map((row) => ({ ...row, is_usual: 0 })) });
    return rows.length > 0;
  });
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

/**
 * Changes of rail accounts in all cells run one after another, and none while a batch of the book
 * commits.
 */
function changing<Result>(
  cell: Cell,
  { organizationId, now }: { readonly organizationId: OrganizationId; readonly now: UnixMillis },
  change: (session: Session, book: LockedBook) => Promise<Result>,
): Promise<Result> {
  return cell.transact(async (session) => {
    await session.read({ sql: cell.engine.administrationLock, bindings: [] });
    return change(session, await lockBook(cell, session, { organizationId, now }));
  });
}

const INSERTED = insertedTypesOf(RAIL_ACCOUNTS);
/** The columns that a change of an account sets, with the key. */
const CHANGED = typesOf(RAIL_ACCOUNTS, ["id", ...changedNamesOf(RAIL_ACCOUNTS)]);

/** A row without its times, which are those of the journal. The credentials are hexadecimal. */
type ChangedRow = Omit<InsertedRow<typeof RAIL_ACCOUNTS>, "created_at" | "updated_at">;

async function ownRows(
  { engine: { table, hex } }: Cell,
  session: Session,
  organizationId: OrganizationId,
): Promise<readonly ChangedRow[]> {
  const names = Object.keys(INSERTED).filter((name) => name !== "created_at" && name !== "updated_at");
  // On SQLite, hex(NULL) is an empty text.
  const sealed = `CASE WHEN credentials IS NOT NULL THEN ${hex("credentials")} END AS credentials`;
  const columns = names.map((name) => (name === "credentials" ? sealed : name));
  const sql = `SELECT ${columns.join(", ")} FROM ${table("rail_accounts")} WHERE organization_id = ? ORDER BY id`;
  return (await session.read({ sql, bindings: [organizationId] })) as readonly ChangedRow[];
}

interface ChangedRows {
  /** With the revision that they had before. */
  readonly rows: readonly ChangedRow[];
  /** Whether the last one is new. */
  readonly isNew?: boolean;
  readonly actor?: Actor | undefined;
}

/** Writes each changed account, and the row of the journal that says what it is now. */
async function write(
  cell: Cell,
  session: Session,
  book: LockedBook,
  { rows, isNew = false, actor = OPERATOR }: ChangedRows,
): Promise<void> {
  const { table, insertInto, update } = cell.engine;
  const name = table("rail_accounts");
  const insert = insertInto(name, INSERTED);
  const change = update(name, { key: "id", columns: CHANGED });
  for (const [index, before] of rows.entries()) {
    const row = { ...before, revision: before.revision + 1 };
    const detail = JSON.stringify(recordOf(row));
    const nextSeq = book.nextSeq + index;
    await session.write([
      ...bookRowWrites(cell, { ...book, nextSeq }, { kind: "rail.changed", detail, created: [detail, "", ""], actor }),
      {
        sql: isNew && index === rows.length - 1 ? insert : change,
        rows: [{ ...row, created_at: book.recordedAt, updated_at: book.recordedAt }],
      },
    ]);
  }
}

/** What the journal says of an account: everything but the content of the credentials. */
function recordOf(row: ChangedRow): object {
  const { credentials, ...recorded } = row;
  const digest = credentials === null ? null : hash("sha256", Buffer.from(credentials, "hex"), "hex");
  return { ...recorded, credentials_sha256: digest };
}

function rowOf(setting: RailAccountSetting, credentials: string | null, earlier: ChangedRow | undefined): ChangedRow {
  return {
    id: setting.id,
    organization_id: setting.organizationId,
    rail: setting.rail,
    settings: setting.settings,
    credentials,
    credentials_expire_at: setting.credentialsExpireAt ?? null,
    payouts: earlier?.payouts ?? "auto",
    payouts_reason: earlier?.payouts_reason ?? "",
    is_usual: setting.isDefault ? 1 : 0,
    begin_within_millis: setting.beginWithinMillis,
    confirm_above_cents: setting.confirmAboveCents,
    resolve_alone_max_cents: setting.resolveAloneMaxCents,
    revision: earlier?.revision ?? 0,
  };
}
