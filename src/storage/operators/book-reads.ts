import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { SEAL_ALARMS, SEALS } from "../../model/seals.js";
import type { BookReads } from "../../operators/reads.js";
import { listBooks } from "../books.js";
import { cellOf, type Database } from "../database.js";
import { readRows } from "../sql/store-error.js";

type ListedSealRow = Pick<RowOf<typeof SEALS>, "size" | "root" | "sealed_at">;
type AlarmRow = Pick<RowOf<typeof SEAL_ALARMS>, "raised_at" | "size" | "first_seq" | "last_seq" | "problem">;

/** Implements the port `BookReads`. Its reads run where lists run. */
export function bookReads(database: Pick<Database, "cells">): BookReads {
  return {
    books: () => listBooks(database, { areChecked: true }),
    async seals(organization, { size, beforeSize = Number.MAX_SAFE_INTEGER }) {
      const { engine, listReader: reader } = cellOf(database, organization);
      // A subquery names the book: PostgreSQL would sort all seals of a joined one.
      const sql = `
        SELECT s.size, s.root, s.sealed_at FROM ${engine.table("seals")} s
        WHERE s.book = (SELECT b.number FROM ${engine.table("books")} b WHERE b.organization_id = ?) AND s.size < ?
        ORDER BY s.size DESC LIMIT ?`;
      const rows = await readRows<ListedSealRow>({ engine, reader }, sql, [organization.id, beforeSize, size]);
      return rows.map((row) => ({ size: row.size, root: row.root, sealedAt: toUnixMillis(row.sealed_at) }));
    },
    async sealAlarm(organization) {
      const { engine, listReader: reader } = cellOf(database, organization);
      const sql = `
        SELECT a.raised_at, a.size, a.first_seq, a.last_seq, a.problem
        FROM ${engine.table("books")} b JOIN ${engine.table("seal_alarms")} a ON a.book = b.number
        WHERE b.organization_id = ? AND a.cleared_at IS NULL`;
      const [row] = await readRows<AlarmRow>({ engine, reader }, sql, [organization.id]);
      if (row === undefined) return undefined;
      const { size, first_seq: firstSeq, last_seq: lastSeq, problem } = row;
      return { raisedAt: toUnixMillis(row.raised_at), size, firstSeq, lastSeq, problem };
    },
  };
}
