import type { Finder, TableName } from "../../domain/decision.js";
import { DEBITS_OF_ACCOUNTS, RECEIPT_NUMBER, RECEIPTS_WITH_SOURCE } from "../../model/transactions.js";
import type { Engine } from "./engine.js";
import { ALONE_COLUMNS, aloneSumsSelect, decidingSelect, JOURNAL_COLUMNS, revealsSelect } from "./journal-rows.js";
import { revokedAtByJournal } from "./organization-rows.js";
import {
  BOOK_COLUMNS,
  BOOK_LIMITS_COLUMNS,
  BOOK_SWITCH_COLUMNS,
  BOOK_USAGE_COLUMNS,
} from "./records/book-head-rows.js";
import { IS_UNALLOCATED } from "./records/deposit-rows.js";
import { madeBy, madeDepositColumns, madeTransactionColumns } from "./records/made-rows.js";
import { openPayments } from "./records/payment-rows.js";
import { proposalColumns } from "./records/proposal-rows.js";
import { withBalanceAfter } from "./rows.js";
import type { Table, Update } from "./table.js";
import { TABLES } from "./tables.js";

const NUMBER_COLUMNS = { number: "int64" } as const;
const NAME_COLUMNS = { book: "int64", name: "text" } as const;

/** A SELECT. Each parameter holds the keys of one finder: ids, or pairs of book and name. */
export interface LedgerRead {
  readonly sql: string;
  readonly finders: readonly Finder[];
}

/**
 * The statements of the ledger's store. Each statement takes all its rows at once, so the number of
 * statements does not grow with the batch.
 */
export interface LedgerStatements {
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
  readonly tables: { readonly [Name in TableName]: TableStatements };
}

/** The statements that write one table. */
export interface TableStatements {
  readonly insert: string;
  /** One statement for each entry of the table's `updates`, in the same order. */
  readonly updates: readonly string[];
}

export function ledgerStatements(engine: Engine): LedgerStatements {
  const { input, table, within, forUpdate, begunAt, insertInto, update } = engine;
  return {
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
    tables: Object.fromEntries(
      Object.entries(TABLES).map(([name, table]) => [name, tableStatements(engine, table as Table<unknown>)]),
    ) as LedgerStatements["tables"],
  };
}

/** Returns an expression: 1 if the journal has newer rows than the row `b` of `books` says. */
export function isBookOld({ table }: Pick<Engine, "table">): string {
  return `CASE WHEN EXISTS (
            SELECT 1 FROM ${table("journal")} j WHERE j.book = b.number AND j.seq > b.last_seq
          ) THEN 1 ELSE 0 END`;
}

function readsOf(engine: Engine) {
  return { ...accountReads(engine), ...transactionReads(engine), ...ownReads(engine), apiKeys: keyRead(engine) };
}

function tableStatements<Row>(engine: Engine, { name, key, columns, updates }: Table<Row>): TableStatements {
  const table = engine.table(name);
  return {
    insert: engine.insertInto(table, columns),
    updates: updates.map((change: Update<Row>) => engine.update(table, { key, columns: change.columns })),
  };
}

/** The SELECTs of keys that several reads share. Each has one parameter. */
function keySelects({ input, jsonItems, lookedUp, table }: Engine) {
  const list = `SELECT value FROM ${jsonItems("?")}`;
  const pairs = input(NAME_COLUMNS);
  const keyed = `
    SELECT resource_id FROM ${pairs}
    ${lookedUp(table("idempotency_keys"), "k", "k.book = input.book AND k.key = input.name")}`;
  const used = `
    SELECT h.account_id FROM ${pairs}
    ${lookedUp(table("account_holders"), "h", "h.book = input.book AND h.user_id = input.name AND h.is_open = 1")}`;
  const referred = `
    SELECT a.id FROM ${pairs}
    ${lookedUp(table("accounts"), "a", "a.book = input.book AND a.deposit_reference = input.name")}`;
  return { list, pairs, keyed, used, referred };
}

/**
 * Returns an expression: 1 if the journal has a row of the account that took from its balances, or
 * changed its status or tier, and that is newer than the row `a` of `accounts` says. Otherwise 0.
 */
function isSpentSince({ table }: Engine): string {
  return `CASE WHEN EXISTS (
            SELECT 1 FROM ${table("journal")} WHERE account_id = a.id AND seq > a.last_seq AND ${DEBITS_OF_ACCOUNTS}
          ) THEN 1 ELSE 0 END`;
}

function accountReads(engine: Engine) {
  const { table, within, lookedUp, forUpdate } = engine;
  const { list, pairs, keyed, used, referred } = keySelects(engine);
  const accountIds = `
    ${list} UNION ALL SELECT account_id FROM ${table("transactions")} WHERE ${within("id", list)}
    UNION ALL ${keyed} UNION ALL ${used} UNION ALL ${referred}`;

  return {
    idempotencyKeys: {
      finders: ["idempotencyKey"],
      sql: `
          SELECT k.* FROM ${pairs}
          ${lookedUp(table("idempotency_keys"), "k", "k.book = input.book AND k.key = input.name")}`,
    },
    // Locks the accounts in the order of their ids, so that two batches cannot deadlock.
    accounts: {
      finders: ["account", "transaction", "idempotencyKey", "accountOfUser", "accountWithDepositReference"],
      sql: `
          SELECT a.*, ${isSpentSince(engine)} AS is_spent
          FROM ${table("accounts")} a WHERE ${within("a.id", accountIds)} ORDER BY a.id ${forUpdate}`,
    },
    holders: {
      finders: ["accountHolder", "idempotencyKeyOfAccount", "accountOfUser"],
      sql: `
          SELECT * FROM ${table("account_holders")}
          WHERE ${within("account_id", `${list} UNION ALL ${keyed} UNION ALL ${used}`)}`,
    },
    // In the order in which they began.
    freezes: {
      finders: ["freeze", "idempotencyKeyOfFreeze", "fullAccount", "idempotencyKeyOfAccount", "accountOfUser"],
      sql: `
          SELECT * FROM ${table("freezes")} WHERE id IN (${list} UNION ALL ${keyed})
          UNION
          SELECT * FROM ${table("freezes")}
          WHERE lifted_at IS NULL AND account_id IN (${list} UNION ALL ${keyed} UNION ALL ${used})
          ORDER BY seq`,
    },
    destinations: {
      finders: ["destination", "idempotencyKeyOfDestination", "destinationsOfAccount"],
      sql: `
          SELECT * FROM ${table("destinations")} WHERE id IN (${list} UNION ALL ${keyed})
          UNION ALL
          SELECT * FROM ${table("destinations")} WHERE removed_at IS NULL AND account_id IN (${list})`,
    },
  } satisfies Readonly<Record<string, LedgerRead>>;
}

function transactionReads(engine: Engine) {
  const { table, within, lookedUp, forUpdate } = engine;
  const { list, pairs, keyed } = keySelects(engine);
  const columns = `${withBalanceAfter(engine)}, ${madeTransactionColumns(engine)}`;
  return {
    transactions: {
      finders: ["transaction", "idempotencyKey", "transactionWithReference"],
      sql: `
          SELECT ${columns} FROM ${table("transactions")} t ${madeBy(engine, "t")}
          WHERE ${within("t.id", `${list} UNION ALL ${keyed}`)}
          UNION ALL
          SELECT ${columns} FROM ${pairs}
          ${lookedUp(table("transactions"), "t", "t.book = input.book AND t.reference = input.name", madeBy(engine, "t"))}`,
    },
    // The corrections that book what a rail reported late.
    lateCorrections: {
      finders: ["order"],
      sql: `
          SELECT ${columns} FROM ${table("transactions")} t ${madeBy(engine, "t")}
          WHERE t.correction = 'LATE' AND t.corrects_id IN (${list}) ORDER BY t.seq`,
    },
    payments: {
      finders: ["payment", "idempotencyKeyOfPayment", "paymentWithReference"],
      sql: `
          SELECT * FROM ${table("payments")} WHERE ${within("transaction_id", `${list} UNION ALL ${keyed}`)}
          UNION ALL
          SELECT p.* FROM ${pairs}
          CROSS JOIN ${table("transactions")} t CROSS JOIN ${table("payments")} p
          WHERE t.book = input.book AND t.reference = input.name AND p.transaction_id = t.id`,
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
    movements: {
      finders: ["movement"],
      sql: `
          SELECT t.book, t.rail_movement, t.id AS transaction_id FROM ${pairs}
          ${lookedUp(table("transactions"), "t", "t.book = input.book AND t.rail_movement = input.name")}`,
    },
    // Locks the proposals in the order of their subjects: two servers must not both do what one
    // proposal allows once.
    proposals: {
      finders: ["proposal"],
      sql: `
          SELECT ${proposalColumns(engine)} FROM ${table("proposals")} p
          WHERE ${within("p.subject", list)} ORDER BY p.subject ${forUpdate}`,
    },
  } satisfies Readonly<Record<string, LedgerRead>>;
}

/**
 * What changes only under the lock of its book. So it is read after that: a row that was read
 * before may be an old one.
 */
function ownReads(engine: Engine) {
  const { table, int64 } = engine;
  const { list, pairs, keyed } = keySelects(engine);
  const { newPayouts, others } = openPayments(engine);
  return {
    deposits: {
      finders: ["deposit", "idempotencyKeyOfDeposit", "receipt"],
      sql: `
          SELECT d.*, ${madeDepositColumns(engine)} FROM ${table("deposits")} d ${madeBy(engine, "d")}
          WHERE d.id IN (${list} UNION ALL ${keyed})
          UNION ALL
          SELECT d.*, ${madeDepositColumns(engine)} FROM ${pairs}
          CROSS JOIN ${table("deposits")} d ${madeBy(engine, "d")} WHERE d.book = input.book AND d.receipt = input.name`,
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
    railAccounts: {
      finders: ["railAccounts"],
      sql: `SELECT * FROM ${table("rail_accounts")} WHERE organization_id IN (${list}) ORDER BY id`,
    },
    paymentsUnderWay: {
      finders: ["paymentsUnderWay", "paymentsUnderWay"],
      sql: `
          SELECT rail_account_id, COUNT(*) AS count FROM (
            ${newPayouts} AND rail_account_id IN (${list}) UNION ALL ${others} AND rail_account_id IN (${list})
          ) p WHERE state <> 'READY' OR turned_away > 0 GROUP BY rail_account_id`,
    },
    railAccountsLock: {
      finders: ["railAccountsOfAll"],
      sql: `${engine.railAccountsLock} WHERE EXISTS (${list})`,
    },
    railAccountsOfAll: {
      finders: ["railAccountsOfAll"],
      sql: `
          SELECT COUNT(*) AS count, COALESCE(SUM(revision), 0) AS revisions
          FROM ${engine.tableOfAllCells("rail_accounts")} a WHERE EXISTS (${list})`,
    },
    reservePlaces: {
      finders: ["reservePlaces"],
      sql: `
          SELECT p.*, o.organization_id
          FROM ${table("reserve_places")} p JOIN ${table("books")} o ON o.number = p.book
          WHERE o.organization_id IN (${list}) ORDER BY p.place`,
    },
    waitingProposals: {
      finders: ["waitingProposals"],
      sql: `
          SELECT ${proposalColumns(engine)} FROM ${table("proposals")} p
          WHERE p.done_at IS NULL AND p.expires_at IS NOT NULL
            AND p.book IN (SELECT number FROM ${table("books")} WHERE organization_id IN (${list}))`,
    },
    decidingRows: { finders: ["decidingRows"], sql: decidingSelect(engine, pairs) },
    reveals: { finders: ["reveals"], sql: revealsSelect(engine, list) },
    aloneSums: { finders: ["aloneSum"], sql: aloneSumsSelect(engine, pairs) },
  } satisfies Readonly<Record<string, LedgerRead>>;
}

/** Locks the keys in the order of their ids, as the notes of their use do. */
function keyRead(engine: Engine): LedgerRead {
  const { table, within, forUpdate } = engine;
  const { list } = keySelects(engine);
  return {
    finders: ["apiKey", "apiKeyWithHash"],
    sql: `
        SELECT k.*, ${revokedAtByJournal(engine)} FROM ${table("api_keys")} k WHERE ${within(
          "k.id",
          `${list} UNION ALL SELECT id FROM ${table("api_keys")} WHERE secret_sha256 IN (${list})`,
        )} ORDER BY k.id ${forUpdate}`,
  };
}
