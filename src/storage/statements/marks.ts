import { BOOK_ACCOUNTS } from "../../domain/journal.js";
import {
  ACCOUNT_MARK_ROWS,
  type BookMark,
  type MarkedAccount,
  type MarkRow,
  type MarkStore,
} from "../../statements/mark-ports.js";
import type { Cell } from "../database.js";
import type { Columns, Engine, Read } from "../sql/engine.js";
import {
  SUM_COLUMNS,
  type SumColumns,
  sumsOf,
  TURNOVER_COLUMNS,
  type TurnoverColumns,
  turnoverOf,
} from "../sql/records/sum-columns.js";
import { inTransaction, orStoreError } from "../sql/store-error.js";

const ACCOUNT_MARK_COLUMNS = { seq: "int64", account_id: "text" } as const satisfies Columns;
const FIRST_ROW_COLUMNS = { account_id: "text", seq: "int64" } as const satisfies Columns;

type MarkingCell = Pick<Cell, "engine" | "reader" | "transact"> & {
  readonly listReader: Pick<Cell["listReader"], "rows">;
};

/** Implements the port `MarkStore` for one cell. */
export function markStore({ engine, reader, listReader, transact }: MarkingCell): MarkStore {
  const statements = markStatements(engine);
  const read = <Row>({ sql, bindings }: Read): Promise<readonly Row[]> =>
    orStoreError(engine, listReader.rows<Row>(sql, bindings));
  return {
    async next(afterBook, rowsMin) {
      // On SQLite the thread of the lists takes 13 MiB. While all books are small, nobody needs it.
      const long = await orStoreError(engine, reader.rows(statements.long, [afterBook, rowsMin]));
      if (long.length === 0) return undefined;
      const [row] = await read<SumColumns & TurnoverColumns & { readonly number: number; readonly seq: number }>({
        sql: statements.next,
        bindings: [afterBook, rowsMin],
      });
      if (row === undefined) return undefined;
      return { book: row.number, seq: row.seq, sums: sumsOf(row), turnover: turnoverOf(row) };
    },
    rows: (book, { afterSeq, upToSeq }) => read<MarkRow>({ sql: statements.rows, bindings: [book, afterSeq, upToSeq] }),
    async countsBefore(book, firstRows) {
      const input = JSON.stringify(firstRows.map(({ accountId, seq }) => ({ account_id: accountId, seq })));
      const rows = await read<{ readonly account_id: string; readonly count: number }>({
        sql: statements.countsBefore,
        bindings: [input, book, ACCOUNT_MARK_ROWS],
      });
      return new Map(rows.map(({ account_id: id, count }) => [id, count]));
    },
    async save(mark, accounts) {
      await inTransaction({ engine, transact }, async (session) => {
        await session.read(accountMarksWrite(statements.addAccountMarks, mark, accounts));
        await session.read({ sql: statements.addBookMark, bindings: bookMarkBindings(mark) });
      });
    },
  };
}

function accountMarksWrite(sql: string, { book }: BookMark, accounts: readonly MarkedAccount[]): Read {
  const rows = accounts.map(({ seq, accountId }) => ({ seq, account_id: accountId }));
  return { sql, bindings: [book, JSON.stringify(rows)] };
}

function bookMarkBindings({ book, seq, sums, turnover: { minted, redeemed } }: BookMark): Read["bindings"] {
  return [book, seq, ...BOOK_ACCOUNTS.map((account) => sums[account]), String(minted), String(redeemed)];
}

// A second worker makes the same marks from the same rows, so a mark that exists already is right.
function markStatements({ table, input }: Engine) {
  return {
    long: `SELECT number FROM ${table("books")} WHERE number > ? AND last_seq >= ? ORDER BY number LIMIT 1`,
    next: `
      SELECT b.number, COALESCE(m.seq, 0) AS seq,
        ${SUM_COLUMNS.map((sum) => `COALESCE(m.${sum}, 0) AS ${sum}`).join(", ")},
        ${TURNOVER_COLUMNS.map((name) => `CAST(COALESCE(m.${name}, 0) AS TEXT) AS ${name}`).join(", ")}
      FROM ${table("books")} b LEFT JOIN ${table("book_marks")} m ON m.book = b.number
        AND m.seq = (SELECT MAX(newest.seq) FROM ${table("book_marks")} newest WHERE newest.book = b.number)
      WHERE b.number > ? AND b.state IN ('OPEN', 'RESTORED') AND b.last_seq >= COALESCE(m.seq, 0) + ? ORDER BY b.number LIMIT 1`,
    rows: `
      SELECT seq, previous_seq, account_id, debit, credit, amount_cents FROM ${table("journal")}
      WHERE book = ? AND seq > ? AND seq <= ? ORDER BY seq`,
    // Counts the rows back to the account's newest mark.
    countsBefore: `
      WITH RECURSIVE walk (account_id, seq, count) AS (
        SELECT account_id, seq, 0 FROM ${input(FIRST_ROW_COLUMNS)}
        UNION ALL
        SELECT walk.account_id, j.previous_seq, walk.count + 1 FROM walk CROSS JOIN ${table("journal")} j
        WHERE j.book = ? AND j.seq = walk.seq AND walk.count < ?
          AND NOT EXISTS (SELECT 1 FROM ${table("account_marks")} m WHERE m.book = j.book AND m.seq = j.seq)
      )
      SELECT account_id, MAX(count) AS count FROM walk GROUP BY account_id`,
    addAccountMarks: `
      INSERT INTO ${table("account_marks")} (book, seq, account_id)
      SELECT CAST(? AS BIGINT), input.seq, input.account_id FROM ${input(ACCOUNT_MARK_COLUMNS)} WHERE TRUE
      ON CONFLICT DO NOTHING RETURNING seq`,
    addBookMark: `
      INSERT INTO ${table("book_marks")}
        (book, seq, ${[...SUM_COLUMNS, ...TURNOVER_COLUMNS].join(", ")})
      VALUES (?, ?, ${SUM_COLUMNS.map(() => "?").join(", ")}, ${TURNOVER_COLUMNS.map(() => "CAST(? AS BIGINT)").join(", ")})
      ON CONFLICT DO NOTHING RETURNING seq`,
  };
}
