import type { Account } from "../../domain/account.js";
import type { TableName, Tables } from "../../domain/decision.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId } from "../../domain/values/ids.js";
import type { Columns } from "./engine.js";
import { ACCOUNT_COLUMNS, accountRowOf, TRANSACTION_COLUMNS, transactionRowOf } from "./rows.js";

export type SqlRow<Of extends Columns> = Readonly<Record<keyof Of, string | number | null>>;

/** Returns the `seq` of the account's newest journal row, including the rows of this batch. */
export type LastSeqOf = (accountId: AccountId) => number;

/** The mapping of one table's rows to SQL. */
export interface Table<Row> {
  readonly name: string;
  /**
   * The column that identifies a row to update. The rows of a table without `updates` never change.
   */
  readonly key: string;
  readonly columns: Columns;
  /** Returns a new row. `seq` is that of the journal row that created it. */
  readonly insertedRow: (row: Row, seq: number, lastSeqOf: LastSeqOf) => object;
  /**
   * The possible updates. The store runs the first that fits, so the narrowest comes first. Setting
   * a column makes the database update its indexes, even if the value stays the same.
   */
  readonly updates: readonly Update<Row>[];
}

export interface Update<Row> {
  readonly columns: Columns;
  readonly fits: (before: Row, after: Row) => boolean;
  readonly updatedRow: (row: Row, lastSeqOf: LastSeqOf) => object;
}

/** The columns that every mint and redemption changes. */
const BALANCE_COLUMNS = {
  id: "text",
  last_seq: "int64",
  available_cents: "int64",
  held_cents: "int64",
  updated_at: "int64",
} as const satisfies Columns;

const STATUS_COLUMNS = { ...BALANCE_COLUMNS, status: "text", status_reason: "text" } as const satisfies Columns;

const TRANSACTION_STATUS_COLUMNS = {
  id: "text",
  status: "text",
  status_reason: "text",
  updated_at: "int64",
  completed_at: "int64",
} as const satisfies Columns;

const IDEMPOTENCY_KEY_COLUMNS = {
  organization_id: "text",
  key: "text",
  resource_id: "text",
  created_at: "int64",
} as const satisfies Columns;

/** The store writes the tables in this order: a row comes after the rows that it refers to. */
export const TABLES: { readonly [Name in TableName]: Table<Tables[Name]> } = {
  accounts: {
    name: "accounts",
    key: "id",
    columns: ACCOUNT_COLUMNS,
    insertedRow: (account, seq, lastSeqOf) => accountRowOf(account, { seq, lastSeq: lastSeqOf(account.id) }),
    updates: [
      {
        columns: BALANCE_COLUMNS,
        fits: (before, after) => before.status === after.status && before.statusReason === after.statusReason,
        updatedRow: balanceRowOf,
      },
      {
        columns: STATUS_COLUMNS,
        fits: () => true,
        updatedRow: (account, lastSeqOf): SqlRow<typeof STATUS_COLUMNS> => ({
          ...balanceRowOf(account, lastSeqOf),
          status: account.status,
          status_reason: account.statusReason,
        }),
      },
    ],
  },
  transactions: {
    name: "transactions",
    key: "id",
    columns: TRANSACTION_COLUMNS,
    insertedRow: transactionRowOf,
    updates: [{ columns: TRANSACTION_STATUS_COLUMNS, fits: () => true, updatedRow: transactionStatusRowOf }],
  },
  idempotencyKeys: {
    name: "idempotency_keys",
    key: "key",
    columns: IDEMPOTENCY_KEY_COLUMNS,
    insertedRow: (used): SqlRow<typeof IDEMPOTENCY_KEY_COLUMNS> => ({
      organization_id: used.organizationId,
      key: used.key,
      resource_id: used.resourceId,
      created_at: used.createdAt,
    }),
    updates: [],
  },
};

function balanceRowOf(account: Account, lastSeqOf: LastSeqOf): SqlRow<typeof BALANCE_COLUMNS> {
  return {
    id: account.id,
    last_seq: lastSeqOf(account.id),
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    updated_at: account.updatedAt,
  };
}

function transactionStatusRowOf(transaction: Transaction): SqlRow<typeof TRANSACTION_STATUS_COLUMNS> {
  return {
    id: transaction.id,
    status: transaction.status,
    status_reason: transaction.statusReason,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}
