import type { UnixMillis } from "../../domain/values/time.js";
import type { Engine } from "../sql/engine.js";
import type { ListReader } from "./page.js";

/** A filter by the time of creation. */
interface CreatedFilter {
  readonly createdAfter?: UnixMillis | undefined;
  readonly createdBefore?: UnixMillis | undefined;
}

/**
 * Returns the range of the `seq` of the journal rows that created what the filter matches: from the
 * first one, inclusive, to the last one, exclusive.
 */
export async function createdIn(
  reader: ListReader,
  engine: Engine,
  { book, createdAfter, createdBefore }: CreatedFilter & { readonly book: number },
): Promise<{ readonly fromSeq: number | undefined; readonly toSeq: number | undefined }> {
  const seqOf = async (time: UnixMillis | undefined): Promise<number | undefined> =>
    time === undefined ? undefined : firstSeqFrom(reader, engine, { book, time });
  return { fromSeq: await seqOf(createdAfter), toSeq: await seqOf(createdBefore) };
}

/**
 * Returns the `seq` of the first journal row at `time` or later, or the next `seq` if there is none
 * yet.
 *
 * A binary search: along a book `seq` has no gaps, and the times never decrease. An index on the
 * time would cost each mint one more row.
 */
export async function firstSeqFrom(
  reader: ListReader,
  { table }: Engine,
  { book, time }: { readonly book: number; readonly time: UnixMillis },
): Promise<number> {
  const sql = `
    WITH RECURSIVE search (low, high) AS (
      SELECT CAST(1 AS BIGINT), last_seq + 1 FROM ${table("books")} WHERE number = ?
      UNION ALL
      SELECT CASE WHEN j.recorded_at < ? THEN j.seq + 1 ELSE search.low END,
        CASE WHEN j.recorded_at < ? THEN search.high ELSE j.seq END
      FROM search CROSS JOIN ${table("journal")} j
      WHERE search.low < search.high AND j.book = ? AND j.seq = (search.low + search.high) / 2
    )
    SELECT max(low) AS seq FROM search`;
  const [found] = await reader.rows<{ readonly seq: number }>(sql, [book, time, time, book]);
  return found?.seq ?? 1;
}
