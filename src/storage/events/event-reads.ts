import type { OrganizationId } from "../../domain/values/ids.js";
import type { LedgerEvent } from "../../events/event.js";
import type { BookSlice, EventFilter, EventReads, EventsRead, EventsRequest } from "../../events/ports.js";
import type { Cell } from "../database.js";
import type { ListReader } from "../lists/page.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Binding } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";
import { eventFrom, eventSelect, type EventSelectRow } from "./event-rows.js";

/**
 * Implements the port `EventReads` for one cell. Whoever appends to a book holds the book's row
 * until its rows are visible. So a reader sees the book up to some row, and none of it beyond
 * (docs/adr/0041).
 */
export function eventReads({
  listReader: reader,
  engine,
  directory,
}: Pick<Cell, "engine" | "directory"> & { readonly listReader: ListReader }): EventReads {
  const select = eventSelect(engine);
  const latestSql = `
    SELECT number, last_seq FROM ${engine.table("books")}
    WHERE number IN (SELECT CAST(value AS BIGINT) FROM ${engine.jsonItems("?")})`;

  const open = (organizationIds: readonly OrganizationId[]): Promise<readonly OpenBook[]> =>
    directory.find(organizationIds, ({ sql, bindings }) => reader.rows(sql, bindings));

  const latestOf = async (books: readonly OpenBook[]): Promise<Map<OrganizationId, number>> => {
    const numbers = JSON.stringify(books.map(({ number }) => number));
    const rows = await reader.rows<{ readonly number: number; readonly last_seq: number }>(latestSql, [numbers]);
    const lastSeqs = new Map(rows.map(({ number, last_seq: lastSeq }) => [number, lastSeq]));
    return new Map(books.map(({ organizationId, number }) => [organizationId, lastSeqs.get(number) ?? 0]));
  };

  const read = async (slices: readonly BookSlice[], filter: EventFilter = {}): Promise<readonly LedgerEvent[]> => {
    const books = new Map(
      (await open(slices.map((slice) => slice.organizationId))).map((book) => [book.organizationId, book]),
    );
    const input = slices.flatMap(({ organizationId, after, upTo }) => {
      const book = books.get(organizationId);
      const length = book === undefined ? 0 : Math.max(0, upTo - after);
      return Array.from({ length }, (_, index) => ({ book: book?.number, seq: after + 1 + index }));
    });
    if (input.length === 0) return [];
    const byNumber = new Map([...books.values()].map((book) => [book.number, book]));
    const { conditions, bindings } = conditionsOf(filter);
    const sql = `${select} ${conditions} ORDER BY j.book, j.seq`;
    const rows = await reader.rows<EventSelectRow>(sql, [JSON.stringify(input), ...bindings]);
    return rows.flatMap((row) => {
      const book = byNumber.get(row.book);
      return book === undefined ? [] : [eventFrom(row, book)];
    });
  };

  const after = async ({ organizationId, afterSequence, limit, filter }: EventsRequest): Promise<EventsRead> => {
    const latestSequence = (await latestOf(await open([organizationId]))).get(organizationId) ?? 0;
    // A book has no gaps, so the number of rows is known before they are read.
    const upTo = Math.max(afterSequence, Math.min(afterSequence + limit, latestSequence));
    const events = await read([{ organizationId, after: afterSequence, upTo }], filter);
    return { events, nextSequence: upTo, latestSequence };
  };

  return {
    after: (request) => orStoreError(engine, after(request)),
    latest: (organizationIds) => orStoreError(engine, open(organizationIds).then(latestOf)),
    slices: (slices, filter) => orStoreError(engine, read(slices, filter)),
  };
}

/** Returns the conditions of a filter. Rows that do not meet them are passed over. */
function conditionsOf({ types, accountId }: EventFilter): {
  readonly conditions: string;
  readonly bindings: readonly Binding[];
} {
  const ofTypes = types === undefined ? "" : ` AND j.kind IN (${types.map(() => "?").join(", ")})`;
  const ofAccount = accountId === undefined ? "" : " AND j.account_id = ?";
  return {
    conditions: `${ofTypes}${ofAccount}`,
    bindings: [...(types ?? []), ...(accountId === undefined ? [] : [accountId])],
  };
}
