import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { SEAL_ALARMS, SEALS } from "../../model/seals.js";
import type { BookReads } from "../../operators/reads.js";
import { listBooks } from "../books.js";
import { type Cell, cellOf, type Database } from "../database.js";
import type { Engine } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";

type ListedSealRow = Pick<RowOf<typeof SEALS>, "size" | "root" | "sealed_at">;
type AlarmRow = Pick<RowOf<typeof SEAL_ALARMS>, "raised_at" | "size" | "first_seq" | "last_seq" | "problem">;

/** Implements the port `BookReads`. Its reads run where lists run. */
export function bookReads(database: Pick<Database, "cells">): BookReads {
  return {
    books: () => listBooks(database),
    async seals(organization, { size, beforeSize = Number.MAX_SAFE_INTEGER }) {
      const cell = cellOf(database, organization);
      const rows = await rowsOf<ListedSealRow>(cell, sealsSql(cell.engine), [organization.id, beforeSize, size]);
      return rows.map((row) => ({ size: row.size, root: row.root, sealedAt: toUnixMillis(row.sealed_at) }));
    },
    async sealAlarm(organization) {
      const cell = cellOf(database, organization);
      const [row] = await rowsOf<AlarmRow>(cell, alarmSql(cell.engine), [organization.id]);
      if (row === undefined) return undefined;
      const { size, first_seq: firstSeq, last_seq: lastSeq, problem } = row;
      return { raisedAt: toUnixMillis(row.raised_at), size, firstSeq, lastSeq, problem };
    },
  };
}

function rowsOf<Row>(
  { engine, listReader }: Pick<Cell, "engine" | "listReader">,
  sql: string,
  bindings: readonly (string | number)[],
): Promise<readonly Row[]> {
  return orStoreError(engine, listReader.rows<Row>(sql, bindings));
}

/** Names the book in a subquery: PostgreSQL would sort all seals of a joined one. */
function sealsSql({ table }: Pick<Engine, "table">): string {
  return `
    SELECT s.size, s.root, s.sealed_at FROM ${table("seals")} s
    WHERE s.book = (SELECT b.number FROM ${table("books")} b WHERE b.organization_id = ?) AND s.size < ?
    ORDER BY s.size DESC LIMIT ?`;
}

function alarmSql({ table }: Pick<Engine, "table">): string {
  return `
    SELECT a.raised_at, a.size, a.first_seq, a.last_seq, a.problem
    FROM ${table("books")} b JOIN ${table("seal_alarms")} a ON a.book = b.number
    WHERE b.organization_id = ? AND a.cleared_at IS NULL`;
}
