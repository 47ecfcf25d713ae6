import {
  LISTED_KINDS,
  type PayoutList,
  payoutListFromText,
  type StandingPayoutList,
} from "../../domain/payout-list.js";
import type { RowOf } from "../../model/column.js";
import type { BOOKS } from "../../model/organizations.js";
import type { PAYOUT_LISTS } from "../../model/payouts.js";
import type { PayoutLists, PayoutOwner } from "../../payouts/ports.js";
import { type Cell, cellOf, type Database } from "../database.js";
import { EMPTY_LIST, hasListHash, joinEntries, listEntryOf, listHashOf, splitEntries } from "../secrets/payout-list.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { Binding, Engine } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, readRows } from "../sql/store-error.js";

type ListsCell = Pick<Cell, "engine" | "directory" | "transact" | "listReader">;

/** A list that is not set in this time never is: its proposal has lapsed. */
const KEEP_MILLIS = 5 * 86_400_000;

/** Implements the port `PayoutLists`. Its reads run where lists run. */
export function payoutLists(database: Pick<Database, "cells">): PayoutLists {
  const open = async (organization: PayoutOwner) => {
    const cell: ListsCell = cellOf(database, organization);
    const { engine, listReader: reader, directory } = cell;
    const rows = <Row>(sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> =>
      readRows<Row>({ engine, reader }, sql, bindings);
    const book = await directory.book(organization.id, (read) => rows(read.sql, read.bindings));
    const sql = statementsOf(engine);
    const [row] = await rows<Pick<RowOf<typeof BOOKS>, "payout_list">>(sql.standing, [book.number]);
    return { cell, rows, book, sql, text: row?.payout_list ?? "" };
  };
  return {
    standing: async (organization) => {
      const { text } = await open(organization);
      return text === "" ? undefined : standingIn(text);
    },
    isWhole: async (organization) => {
      const { rows, book, sql, text } = await open(organization);
      const { hash = EMPTY_LIST } = text === "" ? {} : standingIn(text);
      if (hash === EMPTY_LIST) return true;
      const [row] = await rows<EntriesRow>(sql.entries, [book.number, hash]);
      return row !== undefined && hasListHash(row.entries, hash);
    },
    store: async (organization, entries, now) => {
      const { cell, rows, book, sql, text: replaces } = await open(organization);
      const all = new Set(entries.map(({ text }) => listEntryOf(book.keys, text)));
      const joined = joinEntries(all);
      const hash = listHashOf(joined);
      const counts = Object.fromEntries(
        LISTED_KINDS.map((kind) => [kind, entries.filter((each) => each.kind === kind).length]),
      ) as PayoutList["counts"];
      const standing = replaces === "" ? undefined : standingIn(replaces);
      const former = standing?.hash ?? "";
      const [row] = await rows<EntriesRow>(sql.entries, [book.number, former]);
      const ended = endedOf(standing, row, all);
      await inTransaction(cell, async (session) => {
        // A list that is proposed again is kept as long as a new one, and is whole again.
        await session.read({ sql: sql.remove, bindings: [book.number, hash, former, now - KEEP_MILLIS] });
        if (hash === EMPTY_LIST) return;
        const added = { book: book.number, list: hash, entries: joined, stored_at: now };
        await session.write([insertOf(cell.engine, "payout_lists", [added])]);
      });
      return { hash, counts, replaces, ended };
    },
  };
}

type EntriesRow = Pick<RowOf<typeof PAYOUT_LISTS, Uint8Array>, "entries">;

/** Of a list that is not as the service wrote it all entries may end: nobody knows them. */
function endedOf(standing: PayoutList | undefined, row: EntriesRow | undefined, all: ReadonlySet<string>): number {
  if (standing === undefined) return 0;
  if (row === undefined || !hasListHash(row.entries, standing.hash)) {
    return LISTED_KINDS.reduce((sum, kind) => sum + standing.counts[kind], 0);
  }
  return [...splitEntries(row.entries)].filter((entry) => !all.has(entry)).length;
}

function standingIn(text: string): StandingPayoutList {
  return readPart("payout_list in a row of books", () => payoutListFromText(text));
}

function statementsOf({ table }: Engine) {
  const lists = table("payout_lists");
  return {
    standing: `SELECT payout_list FROM ${table("books")} WHERE number = ?`,
    entries: `SELECT entries FROM ${lists} WHERE book = ? AND list = ?`,
    remove: `DELETE FROM ${lists} WHERE book = ? AND (list = ? OR (list <> ? AND stored_at < ?)) RETURNING list`,
  };
}
