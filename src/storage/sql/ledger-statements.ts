import type { TableName } from "../../domain/decision.js";
import type { Columns, Engine } from "./engine.js";
import { type Table, TABLES, type Update } from "./tables.js";

export const JOURNAL_COLUMNS = {
  seq: "int64",
  previous_seq: "int64",
  organization_id: "text",
  account_id: "text",
  transaction_id: "text",
  kind: "text",
  debit: "text",
  credit: "text",
  amount_cents: "int64",
  available_after_cents: "int64",
  held_after_cents: "int64",
  actor: "text",
  reason: "text",
  recorded_at: "int64",
} as const satisfies Columns;

/** The columns of the only row of `journal_head`. */
export const HEAD_COLUMNS = { id: "int64", last_seq: "int64" } as const satisfies Columns;

const KEY_COLUMNS = { organization_id: "text", key: "text" } as const;

// A sum over a batch may exceed the safe range of a JSON number. So the sums travel as text, and
// SQL casts them back.
export const SUPPLY_CHANGE_COLUMNS = {
  organization_id: "text",
  reserve_cents: "text",
  available_cents: "text",
  held_cents: "text",
} as const satisfies Columns;

/**
 * The statements of the ledger's store. Each statement takes all its rows at once, so the number of
 * statements does not grow with the batch.
 */
export interface LedgerStatements {
  /** Parameters: pairs of organization_id and key. */
  readonly idempotencyKeys: string;
  /** Parameters: pairs of organization_id and user_id. Takes no locks. */
  readonly accountsOfUsers: string;
  /**
   * Locks the accounts in the order of their ids, so that two batches cannot deadlock. Parameters:
   * ids of accounts; ids of transactions, whose accounts it locks; pairs of organization_id and
   * idempotency key, whose accounts it locks.
   */
  readonly lockedAccounts: string;
  /**
   * Parameters: ids; pairs of organization_id and idempotency key; pairs of organization_id and
   * reference.
   */
  readonly transactions: string;
  /** Locks the row until the commit. Other batches wait for it. */
  readonly lockedHead: string;
  readonly updateHead: string;
  readonly insertJournal: string;
  readonly tables: { readonly [Name in TableName]: TableStatements };
  readonly updateSupply: string;
}

/** The statements that write one table. */
export interface TableStatements {
  readonly insert: string;
  /** One statement for each entry of the table's `updates`, in the same order. */
  readonly updates: readonly string[];
}

export function ledgerStatements(engine: Engine): LedgerStatements {
  const { input, list, forUpdate, insertInto, update, int64 } = engine;
  const keyed = `
    SELECT resource_id FROM ${input(KEY_COLUMNS)}
    CROSS JOIN idempotency_keys k WHERE k.organization_id = input.organization_id AND k.key = input.key`;
  const add = (sum: string, change: string): string => `${sum} + CAST(${change} AS ${int64})`;

  return {
    // CROSS JOIN makes SQLite read `input` first and look up each row, whatever it estimates about
    // the size of the tables.
    idempotencyKeys: `
      SELECT k.* FROM ${input(KEY_COLUMNS)}
      CROSS JOIN idempotency_keys k WHERE k.organization_id = input.organization_id AND k.key = input.key`,
    accountsOfUsers: `
      SELECT a.* FROM ${input({ organization_id: "text", user_id: "text" })}
      CROSS JOIN accounts a WHERE a.organization_id = input.organization_id AND a.user_id = input.user_id`,
    lockedAccounts: `
      SELECT * FROM accounts WHERE id IN (
        ${list} UNION ALL SELECT account_id FROM transactions WHERE id IN (${list}) UNION ALL ${keyed}
      ) ORDER BY id ${forUpdate}`,
    transactions: `
      SELECT * FROM transactions WHERE id IN (${list} UNION ALL ${keyed})
      UNION ALL
      SELECT t.* FROM ${input({ organization_id: "text", reference: "text" })}
      CROSS JOIN transactions t WHERE t.organization_id = input.organization_id AND t.reference = input.reference`,
    lockedHead: `SELECT last_seq FROM journal_head WHERE id = 1 ${forUpdate}`,
    updateHead: update("journal_head", { key: "id", columns: HEAD_COLUMNS }),
    insertJournal: insertInto("journal", JOURNAL_COLUMNS),
    tables: {
      accounts: tableStatements(engine, TABLES.accounts),
      transactions: tableStatements(engine, TABLES.transactions),
      idempotencyKeys: tableStatements(engine, TABLES.idempotencyKeys),
    },
    updateSupply: update("supply", { key: "organization_id", columns: SUPPLY_CHANGE_COLUMNS, becomes: add }),
  };
}

function tableStatements<Row>(engine: Engine, { name, key, columns, updates }: Table<Row>): TableStatements {
  return {
    insert: engine.insertInto(name, columns),
    updates: updates.map((change: Update<Row>) => engine.update(name, { key, columns: change.columns })),
  };
}
