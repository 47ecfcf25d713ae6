import type { TierName } from "../../domain/limits/limits.js";
import { toCents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { CLOSED_MONTH, CLOSINGS } from "../../model/transactions.js";
import type { AsOf, HistoryReads, Looked, Position, WalkStep } from "../../statements/ports.js";
import type { Cell } from "../database.js";
import { firstSeqFrom } from "../lists/first-seq-from.js";
import type { ListReader } from "../lists/page.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Engine, Read } from "../sql/engine.js";
import { closingOf, type ClosingRow } from "../sql/journal-rows.js";
import { freezeOf, type FreezeRow } from "../sql/records/freeze-rows.js";
import { orStoreError } from "../sql/store-error.js";
import { accountRowsPage } from "./account-rows.js";
import { lastOfWalk, nearestMark, newestRow, WALK_MAX, type WalkedSqlRow } from "./account-walk.js";
import { journalPage } from "./journal.js";
import { accountLinesPage, bookLinesPage } from "./lines.js";
import { reserveHoldings } from "./reserve.js";
import { currentSums, openPaymentsOf, reportedBalances, sumsStep } from "./supply.js";
import { waitingIn } from "./waiting.js";

/** The look-ups of a binary search by time through 2^40 rows. */
const SEARCH_ROWS = 40;
/** The maximum number of freezes that one step looks at. */
const FREEZES_MAX = 256;

type HistoryCell = Pick<Cell, "engine" | "directory"> & { readonly listReader: ListReader };

/**
 * Implements the port `HistoryReads` for one cell. All reads run as lists do: on SQLite on their
 * own thread.
 */
export function historyReads({ engine, directory, listReader }: HistoryCell): HistoryReads {
  const inBook = <Result>(
    organizationId: OrganizationId,
    read: (book: OpenBook) => Promise<Result>,
  ): Promise<Result> => {
    const opening = directory.book(organizationId, ({ sql, bindings }) => listReader.rows(sql, bindings));
    return orStoreError(engine, opening.then(read));
  };
  const ofBook =
    <Asked, Result>(read: (reader: ListReader, engine: Engine, asked: Asked & { book: number }) => Promise<Result>) =>
    (organizationId: OrganizationId, asked: Asked): Promise<Result> =>
      inBook(organizationId, ({ number: book }) => read(listReader, engine, { ...asked, book }));

  return {
    position: (organizationId, asOf) =>
      inBook(organizationId, ({ number }) => positionOf(listReader, engine, { book: number, asOf })),

    balances: (organizationId, { accountId, upToSeq, from }) =>
      inBook(organizationId, ({ number: book }) => {
        const start = from === undefined ? nearestMark(engine, { book, accountId, seq: upToSeq }) : at(from);
        const goesOn = { sql: "walk.seq > ?", bindings: [upToSeq] };
        const { sql, bindings } = lastOfWalk(engine, { book, accountId, start, goesOn });
        return listReader.rows<WalkedSqlRow>(sql, bindings);
      }).then((rows) => stepOf(rows, ({ seq }) => seq <= upToSeq)),

    closing: (organizationId, { accountId, from }) =>
      inBook(organizationId, ({ number: book }) => {
        const start = from === undefined ? newestRow(engine, { book, accountId }) : at(from);
        const goesOn = { sql: "walk.kind <> 'account.closed'", bindings: [] };
        const { sql, bindings } = lastOfWalk(engine, { book, accountId, start, goesOn });
        return listReader.rows<WalkedSqlRow>(sql, bindings);
      }).then((rows) => stepOf(rows, ({ kind }) => kind === "account.closed")),

    freezes: (organizationId, given) =>
      inBook(organizationId, async (book) => {
        const rows = await listReader.rows<FreezeRow & { readonly stood: number }>(freezesSql(engine), [
          given.seq,
          given.accountId,
          book.number,
          given.afterSeq,
          given.seq,
          FREEZES_MAX,
        ]);
        const freezes = rows.filter(({ stood }) => stood === 1).map((row) => freezeOf(standing(row), book));
        const nextAfterSeq = rows.length === FREEZES_MAX ? rows.at(-1)?.seq : undefined;
        return { result: { freezes, nextAfterSeq }, lookedAt: rows.length };
      }),

    tier: (organizationId, { accountId, seq }) =>
      inBook(organizationId, async ({ number: book }) => {
        const [row] = await listReader.rows<{ readonly detail: TierName }>(tierSql(engine), [accountId, book, seq]);
        return { result: row?.detail, lookedAt: 1 };
      }),

    accountLines: ofBook(accountLinesPage),

    accountRows: ofBook(accountRowsPage),

    journal: ofBook(journalPage),

    waiting: (organizationId, now) =>
      inBook(organizationId, ({ number: book }) => waitingIn(listReader, engine, { book, now })),

    bookLines: ofBook(bookLinesPage),

    sums: ofBook(sumsStep),

    currentSums: (organizationId) =>
      inBook(organizationId, ({ number: book }) => currentSums(listReader, engine, book)),

    openPayments: (organizationId, now) =>
      inBook(organizationId, ({ number: book }) => openPaymentsOf(listReader, engine, { book, now })),

    railBalances: (organizationId) =>
      inBook(organizationId, () => reportedBalances(listReader, engine, organizationId)),

    reserveHoldings: (organizationId) => inBook(organizationId, (book) => reserveHoldings(listReader, engine, book)),

    closedMonth: (organizationId, month) =>
      inBook(organizationId, async (book) => {
        const [row] = await listReader.rows<ClosingRow>(closedMonthSql(engine), [book.number, month]);
        return row && closingOf(row, book);
      }),
  };
}

function at(seq: number): Read {
  return { sql: "CAST(? AS BIGINT)", bindings: [seq] };
}

/** Throws if there is no row: a mark is wrong, or the account does not exist. */
function stepOf([row]: readonly WalkedSqlRow[], isFound: (row: WalkedSqlRow) => boolean): Looked<WalkStep> {
  if (row === undefined) throw new Error("a walk does not begin at a row of its account");
  const found = {
    seq: row.seq,
    recordedAt: toUnixMillis(row.recorded_at),
    availableCents: toCents(row.available_after_cents),
    heldCents: toCents(row.held_after_cents),
  };
  const result = isFound(row) ? { found, next: undefined } : { found: undefined, next: row.previous_seq ?? undefined };
  return { result, lookedAt: Math.min(row.looked_at, WALK_MAX) };
}

async function positionOf(
  reader: ListReader,
  engine: Engine,
  { book, asOf }: { readonly book: number; readonly asOf: AsOf },
): Promise<Looked<Position>> {
  const { table } = engine;
  const upTo = "seq" in asOf ? asOf.seq : (await firstSeqFrom(reader, engine, { book, time: asOf.before })) - 1;
  const [row] = await reader.rows<{ readonly seq: number; readonly recorded_at: number }>(
    `SELECT j.seq, j.recorded_at FROM ${table("journal")} j WHERE j.book = ? AND j.seq <= ? ORDER BY j.seq DESC LIMIT 1`,
    [book, upTo],
  );
  const result =
    row === undefined ? { seq: 0, recordedAt: undefined } : { seq: row.seq, recordedAt: toUnixMillis(row.recorded_at) };
  return { result, lookedAt: SEARCH_ROWS };
}

/** A freeze stood at a row if no row up to that one lifted it. */
function freezesSql({ table }: Engine): string {
  return `
    SELECT f.*, CASE WHEN EXISTS (
      SELECT 1 FROM ${table("journal")} j WHERE j.freeze_id = f.id AND j.kind = 'account.unfrozen' AND j.seq <= ?
    ) THEN 0 ELSE 1 END AS stood
    FROM ${table("freezes")} f
    WHERE f.account_id = ? AND f.book = ? AND f.seq > ? AND f.seq <= ? ORDER BY f.seq LIMIT ?`;
}

function tierSql({ table }: Engine): string {
  return `
    SELECT j.detail FROM ${table("journal")} j
    WHERE j.account_id = ? AND j.book = ? AND j.seq <= ? AND j.kind = 'account.tiered' ORDER BY j.seq DESC LIMIT 1`;
}

/** The freeze as it was while it stood. */
function standing(row: FreezeRow): FreezeRow {
  return { ...row, lifted_by: null, lifted_at: null, lift_reason: null };
}

function closedMonthSql({ table }: Engine): string {
  return `
    SELECT seq, detail, recorded_at FROM ${table("journal")}
    WHERE book = ? AND ${CLOSED_MONTH} = ? AND ${CLOSINGS}`;
}
