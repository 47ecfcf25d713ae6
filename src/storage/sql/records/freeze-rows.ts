import type { Freeze, FreezeReason } from "../../../domain/freeze.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { AccountId, FreezeId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { FREEZES } from "../../../model/accounts.js";
import { changedNamesOf, insertedTypesOf, type RowOf } from "../../../model/column.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `freezes`, as both drivers read it. */
export type FreezeRow = RowOf<typeof FREEZES>;

export const FREEZE_TABLE: Table<Freeze, FreezeRow> = {
  name: "freezes",
  key: "id",
  insertedRow: freezeRowOf,
  contentOf: ({ id, reason, note }) => [id, reason, note],
  // In the order in which they began.
  reads: ({ table }, { list, keyed, used }) => [
    {
      finders: ["freeze", "idempotencyKeyOfFreeze", "fullAccount", "idempotencyKeyOfAccount", "accountOfUser"],
      sql: `
        SELECT * FROM ${table("freezes")} WHERE id IN (${list} UNION ALL ${keyed})
        UNION
        SELECT * FROM ${table("freezes")}
        WHERE lifted_at IS NULL AND account_id IN (${list} UNION ALL ${keyed} UNION ALL ${used})
        ORDER BY seq`,
    },
  ],
  rowOf: freezeOf,
  updates: [{ sets: changedNamesOf(FREEZES) }],
};

/** The column of a read of accounts that holds the standing freezes. */
export interface StandingFreezesRow {
  /** A JSON array of rows of `freezes`, in no order. Null for an account that is not frozen. */
  readonly standing_freezes: string | null;
}

/**
 * Returns the SQL of the column `standing_freezes` of the accounts `a`. One statement reads an
 * account and its freezes, so they agree with its status.
 */
export function standingFreezesColumn({ table, jsonRows }: Engine): string {
  const freezes = jsonRows(
    "f",
    insertedTypesOf(FREEZES),
    `${table("freezes")} f WHERE f.account_id = a.id AND f.lifted_at IS NULL`,
  );
  return `CASE WHEN a.status = 'FROZEN' THEN ${freezes} END AS standing_freezes`;
}

/** Returns the standing freezes of an account, oldest first. */
export function standingFreezesOf({ standing_freezes: json }: StandingFreezesRow, book: OpenBook): readonly Freeze[] {
  if (json === null) return [];
  const rows = JSON.parse(json) as FreezeRow[];
  return rows.sort((left, right) => left.seq - right.seq).map((row) => freezeOf(row, book));
}

export function freezeOf(row: FreezeRow, { organizationId }: OpenBook): Freeze {
  return {
    id: row.id as FreezeId,
    organizationId,
    accountId: row.account_id as AccountId,
    reason: row.reason_code as FreezeReason,
    note: row.reason as StatusReason,
    createdBy: row.created_by as Actor,
    createdAt: toUnixMillis(row.created_at),
    lifted:
      row.lifted_at === null
        ? undefined
        : { by: row.lifted_by as Actor, at: toUnixMillis(row.lifted_at), note: row.lift_reason as StatusReason },
  };
}

function freezeRowOf(freeze: Freeze, { book, seq }: RowPlace): FreezeRow {
  const { lifted } = freeze;
  return {
    book: book.number,
    seq,
    id: freeze.id,
    account_id: freeze.accountId,
    reason_code: freeze.reason,
    reason: freeze.note,
    created_by: freeze.createdBy,
    created_at: freeze.createdAt,
    lifted_by: lifted?.by ?? null,
    lifted_at: lifted?.at ?? null,
    lift_reason: lifted?.note ?? null,
  };
}
