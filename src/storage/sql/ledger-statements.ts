import type { TableName } from "../../domain/decision.js";
import type { Engine } from "./engine.js";
import { JOURNAL_COLUMNS } from "./journal-rows.js";
import { BOOK_COLUMNS, BOOK_LIMITS_COLUMNS, BOOK_USAGE_COLUMNS } from "./records/book-head-rows.js";
import { withBalanceAfter } from "./rows.js";
import { type Table, TABLES, type Update } from "./tables.js";

const NUMBER_COLUMNS = { number: "int64" } as const;
const KEY_COLUMNS = { book: "int64", key: "text" } as const;
const USER_COLUMNS = { book: "int64", user_id: "text" } as const;
const REFERENCE_COLUMNS = { book: "int64", reference: "text" } as const;
const RECEIPT_COLUMNS = { book: "int64", rail_receipt: "text" } as const;
const MOVEMENT_COLUMNS = { book: "int64", rail_movement: "text" } as const;

/**
 * The statements of the ledger's store. Each statement takes all its rows at once, so the number of
 * statements does not grow with the batch.
 */
export interface LedgerStatements {
  /** Parameters: pairs of book and key. */
  readonly idempotencyKeys: string;
  /**
   * Locks the accounts in the order of their ids, so that two batches cannot deadlock. Parameters:
   * ids of accounts; ids of transactions, whose accounts it locks; pairs of book and idempotency
   * key, whose accounts it locks; pairs of book and user_id, whose accounts it locks.
   */
  readonly lockedAccounts: string;
  /**
   * Parameters: ids of accounts; pairs of book and idempotency key; pairs of book and user_id.
   */
  readonly holders: string;
  /**
   * Reads freezes in the order in which they began. Parameters: ids of freezes; pairs of book and
   * idempotency key; then, for the standing freezes of accounts, ids of accounts, pairs of book and
   * idempotency key, pairs of book and user_id.
   */
  readonly freezes: string;
  /** Parameters: ids; pairs of book and idempotency key; pairs of book and reference. */
  readonly transactions: string;
  /** The corrections that book what a rail reported late. Parameter: ids of their originals. */
  readonly lateCorrections: string;
  /** Parameters: ids of transactions; pairs of book and key; pairs of book and reference. */
  readonly payments: string;
  /** Parameter: pairs of book and receipt. */
  readonly receipts: string;
  /** Parameter: pairs of book and movement. */
  readonly movements: string;
  /**
   * Locks the proposals in the order of their subjects: two servers must not both do what one
   * proposal allows once. Parameter: subjects.
   */
  readonly proposals: string;
  /**
   * Locks the books in the order of their numbers, until the commit. The batches of other servers
   * wait for them. Parameter: numbers of books.
   */
  readonly lockedBooks: string;
  /** The accounts at rails of payments. Parameter: ids of transactions. */
  readonly railRevisions: string;
  readonly updateBooks: string;
  readonly updateBookUsage: string;
  readonly updateBookLimits: string;
  readonly insertJournal: string;
  readonly tables: { readonly [Name in TableName]: TableStatements };
}

/** The statements that write one table. */
export interface TableStatements {
  readonly insert: string;
  /** One statement for each entry of the table's `updates`, in the same order. */
  readonly updates: readonly string[];
}

export function ledgerStatements(engine: Engine): LedgerStatements {
  const { input, jsonItems, table, within, forUpdate, begunAt, insertInto, update } = engine;
  const list = `SELECT value FROM ${jsonItems("?")}`;
  const keyed = `
    SELECT resource_id FROM ${input(KEY_COLUMNS)}
    CROSS JOIN ${table("idempotency_keys")} k WHERE k.book = input.book AND k.key = input.key`;
  const used = `
    SELECT h.account_id FROM ${input(USER_COLUMNS)}
    CROSS JOIN ${table("account_holders")} h WHERE h.book = input.book AND h.user_id = input.user_id AND h.is_open = 1`;
  const accountIds = `
    ${list} UNION ALL SELECT account_id FROM ${table("transactions")} WHERE id IN (${list})
    UNION ALL ${keyed} UNION ALL ${used}`;

  return {
    // CROSS JOIN makes SQLite read `input` first and look up each row, whatever it estimates about
    // the size of the tables.
    idempotencyKeys: `
      SELECT k.* FROM ${input(KEY_COLUMNS)}
      CROSS JOIN ${table("idempotency_keys")} k WHERE k.book = input.book AND k.key = input.key`,
    lockedAccounts: `
      SELECT * FROM ${table("accounts")} WHERE ${within("id", accountIds)} ORDER BY id ${forUpdate}`,
    holders: `
      SELECT * FROM ${table("account_holders")} WHERE account_id IN (${list} UNION ALL ${keyed} UNION ALL ${used})`,
    freezes: `
      SELECT * FROM ${table("freezes")} WHERE id IN (${list} UNION ALL ${keyed})
      UNION
      SELECT * FROM ${table("freezes")}
      WHERE lifted_at IS NULL AND account_id IN (${list} UNION ALL ${keyed} UNION ALL ${used})
      ORDER BY seq`,
    transactions: `
      SELECT ${withBalanceAfter(engine)} FROM ${table("transactions")} t WHERE t.id IN (${list} UNION ALL ${keyed})
      UNION ALL
      SELECT ${withBalanceAfter(engine)} FROM ${input(REFERENCE_COLUMNS)}
      CROSS JOIN ${table("transactions")} t WHERE t.book = input.book AND t.reference = input.reference`,
    lateCorrections: `
      SELECT ${withBalanceAfter(engine)} FROM ${table("transactions")} t
      WHERE t.correction = 'LATE' AND t.corrects_id IN (${list}) ORDER BY t.seq`,
    payments: `
      SELECT * FROM ${table("payments")} WHERE transaction_id IN (${list} UNION ALL ${keyed})
      UNION ALL
      SELECT p.* FROM ${input(REFERENCE_COLUMNS)}
      CROSS JOIN ${table("transactions")} t CROSS JOIN ${table("payments")} p
      WHERE t.book = input.book AND t.reference = input.reference AND p.transaction_id = t.id`,
    receipts: `
      SELECT j.book, j.rail_receipt, j.transaction_id FROM ${input(RECEIPT_COLUMNS)}
      CROSS JOIN ${table("journal")} j WHERE j.book = input.book AND j.rail_receipt = input.rail_receipt`,
    movements: `
      SELECT t.book, t.rail_movement, t.id AS transaction_id FROM ${input(MOVEMENT_COLUMNS)}
      CROSS JOIN ${table("transactions")} t WHERE t.book = input.book AND t.rail_movement = input.rail_movement`,
    proposals: `
      SELECT * FROM ${table("proposals")} WHERE ${within("subject", list)} ORDER BY subject ${forUpdate}`,
    lockedBooks: `
      SELECT *, ${begunAt} AS begun_at FROM ${table("books")}
      WHERE ${within("number", `SELECT number FROM ${input(NUMBER_COLUMNS)}`)} ORDER BY number ${forUpdate}`,
    railRevisions: `
      SELECT DISTINCT a.id, a.organization_id, a.revision
      FROM ${table("payments")} p JOIN ${table("rail_accounts")} a ON a.id = p.rail_account_id
      WHERE p.transaction_id IN (${list})`,
    updateBooks: update(table("books"), { key: "number", columns: BOOK_COLUMNS }),
    updateBookUsage: update(table("books"), { key: "number", columns: BOOK_USAGE_COLUMNS }),
    updateBookLimits: update(table("books"), { key: "number", columns: BOOK_LIMITS_COLUMNS }),
    insertJournal: insertInto(table("journal"), JOURNAL_COLUMNS),
    tables: {
      accounts: tableStatements(engine, TABLES.accounts),
      accountHolders: tableStatements(engine, TABLES.accountHolders),
      freezes: tableStatements(engine, TABLES.freezes),
      transactions: tableStatements(engine, TABLES.transactions),
      payments: tableStatements(engine, TABLES.payments),
      proposals: tableStatements(engine, TABLES.proposals),
      idempotencyKeys: tableStatements(engine, TABLES.idempotencyKeys),
    },
  };
}

function tableStatements<Row>(engine: Engine, { name, key, columns, updates }: Table<Row>): TableStatements {
  const table = engine.table(name);
  return {
    insert: engine.insertInto(table, columns),
    updates: updates.map((change: Update<Row>) => engine.update(table, { key, columns: change.columns })),
  };
}
