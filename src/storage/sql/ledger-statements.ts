import { ofEachTable, type TableName } from "../../domain/decision.js";
import { insertedTypesOf, type TableModel, typesOf } from "../../model/column.js";
import { MODEL } from "../../model/tables.js";
import { PAID_OUT, PAID_TO, RECEIPT_NUMBER, RECEIPTS_WITH_SOURCE } from "../../model/transactions.js";
import type { Engine } from "./engine.js";
import {
  ALONE_COLUMNS,
  aloneSumsSelect,
  bankFilesSelect,
  closedMonthsSelect,
  decidingSelect,
  JOURNAL_COLUMNS,
  payoutChecksSelect,
  revealsSelect,
} from "./journal-rows.js";
import { keySelects } from "./key-selects.js";
import {
  BOOK_COLUMNS,
  BOOK_LIMITS_COLUMNS,
  BOOK_SWITCH_COLUMNS,
  BOOK_USAGE_COLUMNS,
} from "./records/book-head-rows.js";
import { IS_UNALLOCATED } from "./records/deposit-rows.js";
import { openPayments } from "./records/payment-rows.js";
import type { LedgerRead, Table } from "./table.js";
import { TABLES, TABLES_IN_ORDER } from "./tables.js";

const NUMBER_COLUMNS = { number: "int64" } as const;

/** A SELECT that finds rows of a table. */
export interface TableRead extends LedgerRead {
  readonly table: TableName;
}

/**
 * The statements of the ledger's store. Each statement takes all its rows at once, so the number of
 * statements does not grow with the batch.
 */
export interface LedgerStatements {
  /** The reads of tables, in the order of `TABLES`. */
  readonly readsBeforeLock: readonly TableRead[];
  readonly readsAfterLock: readonly TableRead[];
  readonly reads: ReturnType<typeof readsOf>;
  /**
   * Locks the books in the order of their numbers, until the commit. The batches of other servers
   * wait for them. Parameter: numbers of books.
   */
  readonly lockedBooks: string;
  readonly updateBooks: string;
  readonly updateBookUsage: string;
  readonly updateBookLimits: string;
  readonly updateBookSwitches: string;
  readonly insertJournal: string;
  /** For the rows of what one person did alone. The others pay nothing for its columns. */
  readonly insertAlone: string;
  readonly tables: Readonly<Record<TableName, TableStatements>>;
}

/** The statements that write one table. */
export interface TableStatements {
  readonly insert: string;
  /** One statement for each entry of the table's `updates`, in the same order, and its columns. */
  readonly updates: readonly {
    readonly sql: string;
    readonly names: readonly string[];
    /** What goes with the rows. */
    readonly deletes: readonly string[];
  }[];
}

export function ledgerStatements(engine: Engine): LedgerStatements {
  const { input, table, within, forUpdate, begunAt, insertInto, update } = engine;
  const keys = keySelects(engine);
  const tableReads = TABLES_IN_ORDER.flatMap((name) =>
    TABLES[name].reads(engine, keys).map((read): TableRead => ({ ...read, table: name })),
  );
  return {
    readsBeforeLock: tableReads.filter(({ isAfterLock }) => isAfterLock !== true),
    readsAfterLock: tableReads.filter(({ isAfterLock }) => isAfterLock === true),
    reads: readsOf(engine),
    lockedBooks: `
      SELECT b.*, ${begunAt} AS begun_at, ${isBookOld(engine)} AS is_old FROM ${table("books")} b
      WHERE ${within("number", `SELECT number FROM ${input(NUMBER_COLUMNS)}`)} ORDER BY number ${forUpdate}`,
    updateBooks: update(table("books"), { key: "number", columns: BOOK_COLUMNS }),
    updateBookUsage: update(table("books"), { key: "number", columns: BOOK_USAGE_COLUMNS }),
    updateBookLimits: update(table("books"), { key: "number", columns: BOOK_LIMITS_COLUMNS }),
    updateBookSwitches: update(table("books"), { key: "number", columns: BOOK_SWITCH_COLUMNS }),
    insertJournal: insertInto(table("journal"), JOURNAL_COLUMNS),
    insertAlone: insertInto(table("journal"), { ...JOURNAL_COLUMNS, ...ALONE_COLUMNS }),
    tables: ofEachTable((name) => tableStatements(engine, TABLES[name])),
  };
}

/** Returns an expression: 1 if the journal has newer rows than the row `b` of `books` says. */
function isBookOld({ table }: Pick<Engine, "table">): string {
  return `CASE WHEN EXISTS (
            SELECT 1 FROM ${table("journal")} j WHERE j.book = b.number AND j.seq > b.last_seq
          ) THEN 1 ELSE 0 END`;
}

function tableStatements(
  engine: Engine,
  { name, key, updates }: Pick<Table<never>, "name" | "key" | "updates">,
): TableStatements {
  const table = engine.table(name);
  const model: TableModel = MODEL[name];
  return {
    insert: engine.insertInto(table, insertedTypesOf(model)),
    updates: updates.map(({ sets, deletes = [] }) => {
      const names = [...new Set([key, sets].flat())];
      const others = deletes.map((each) => engine.deleteFrom(engine.table(each.table), each.column, String(key)));
      return { sql: engine.update(table, { key, columns: typesOf(model, names) }), names, deletes: others };
    }),
  };
}

/** What a batch reads beside rows of tables. All but the movements are read after the lock. */
function readsOf(engine: Engine) {
  const { table, int64, lookedUp } = engine;
  const { list, pairs } = keySelects(engine);
  const { newPayouts, others } = openPayments(engine);
  return {
    movements: {
      finders: ["movement"],
      sql: `
          SELECT t.book, t.rail_movement, t.id AS transaction_id FROM ${pairs}
          ${lookedUp(table("transactions"), "t", "t.book = input.book AND t.rail_movement = input.name")}`,
    },
    // Read after the book's lock: no index stops two servers with one number from two sources.
    receipts: {
      finders: ["receipt", "receiptNumber"],
      sql: `
          SELECT j.book, j.rail_receipt, j.transaction_id, j.kind, j.detail FROM ${pairs}
          ${lookedUp(table("journal"), "j", "j.book = input.book AND j.rail_receipt = input.name")}
          UNION ALL
          SELECT j.book, j.rail_receipt, j.transaction_id, j.kind, j.detail FROM ${pairs}
          CROSS JOIN ${table("journal")} j
          WHERE j.book = input.book AND ${RECEIPT_NUMBER} = ':' || input.name AND ${RECEIPTS_WITH_SOURCE}`,
    },
    unallocatedDeposits: {
      finders: ["unallocatedDeposits"],
      sql: `
          SELECT o.organization_id, CAST((
            SELECT COALESCE(SUM(d.amount_cents), 0) FROM ${table("deposits")} d
            WHERE d.book = o.number AND ${IS_UNALLOCATED}
          ) AS ${int64}) AS cents
          FROM ${table("books")} o WHERE o.organization_id IN (${list})`,
    },
    paymentsUnderWay: {
      finders: ["paymentsUnderWay", "paymentsUnderWay"],
      sql: `
          SELECT rail_account_id, COUNT(*) AS count FROM (
            ${newPayouts} AND rail_account_id IN (${list}) UNION ALL ${others} AND rail_account_id IN (${list})
          ) p WHERE state <> 'READY' OR turned_away > 0 GROUP BY rail_account_id`,
    },
    railAccountsLock: {
      finders: ["railAccountsOfCells"],
      sql: `${engine.railAccountsLock} WHERE EXISTS (${list})`,
    },
    railAccountsOfCells: {
      finders: ["railAccountsOfCells"],
      sql: `
          SELECT COUNT(*) AS count, COALESCE(SUM(revision), 0) AS revisions
          FROM ${engine.tableOfAllCells("rail_accounts")} a WHERE EXISTS (${list})`,
    },
    decidingRows: { finders: ["decidingRows"], sql: decidingSelect(engine, pairs) },
    reveals: { finders: ["reveals"], sql: revealsSelect(engine, list) },
    closedMonths: { finders: ["closedMonth"], sql: closedMonthsSelect(engine, pairs) },
    paidTo: {
      finders: ["paidTo"],
      sql: `
          SELECT * FROM (
            SELECT input.book, input.name AS paid_to, (
              SELECT MAX(t.created_at) FROM ${table("transactions")} t
              WHERE t.book = input.book AND ${PAID_TO} = input.name AND ${PAID_OUT}
            ) AS accepted_at FROM ${pairs}
          ) p WHERE accepted_at IS NOT NULL`,
    },
    payoutChecks: { finders: ["payoutCheck"], sql: payoutChecksSelect(engine, list) },
    // Those that hold, and those that the batch may set. The store keeps what it has read.
    payoutLists: {
      finders: ["payoutList"],
      sql: `SELECT l.book, l.list, l.entries FROM ${pairs}
            ${lookedUp(table("payout_lists"), "l", "l.book = input.book AND l.list = input.name")}`,
    },
    bankFiles: { finders: ["bankFile"], sql: bankFilesSelect(engine, pairs) },
    aloneSums: { finders: ["aloneSum"], sql: aloneSumsSelect(engine, pairs) },
  } satisfies Readonly<Record<string, LedgerRead>>;
}
