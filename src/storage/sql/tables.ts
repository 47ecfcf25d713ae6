import type { AccountHolder, LedgerAccount } from "../../domain/account.js";
import type { TableName, Tables } from "../../domain/decision.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, OrganizationId } from "../../domain/values/ids.js";
import type { OpenBook } from "./book-directory.js";
import type { Columns } from "./engine.js";
import {
  ACCOUNT_COLUMNS,
  accountRowOf,
  HOLDER_COLUMNS,
  holderRowOf,
  personRowOf,
  TRANSACTION_COLUMNS,
  transactionRowOf,
} from "./rows.js";

export type SqlRow<Of extends Columns> = Readonly<Record<keyof Of, string | number | null>>;

/** What a batch knows about the rows that it writes. */
export interface BatchFacts {
  /** Returns the `seq` of the account's newest journal row, including the rows of this batch. */
  lastSeqOf(accountId: AccountId): number;
  /** Returns the salt of the data of an account's holder, in hexadecimal. */
  personSaltOf(accountId: AccountId): string;
  bookOf(organizationId: OrganizationId): OpenBook;
}

/** Where a new row belongs. */
export interface RowPlace {
  readonly book: OpenBook;
  /** The `seq` of the journal row that created the row. 0 if none did. */
  readonly seq: number;
  readonly facts: BatchFacts;
}

/** The mapping of one table's rows to SQL. */
export interface Table<Row> {
  readonly name: string;
  /**
   * The column that identifies a row to update. The rows of a table without `updates` never change.
   */
  readonly key: string;
  readonly columns: Columns;
  readonly insertedRow: (row: Row, place: RowPlace) => object;
  /**
   * The possible updates. The store runs the first that fits, so the narrowest comes first. Setting
   * a column makes the database update its indexes, even if the value stays the same.
   */
  readonly updates: readonly Update<Row>[];
}

export interface Update<Row> {
  readonly columns: Columns;
  readonly fits: (before: Row, after: Row) => boolean;
  readonly updatedRow: (row: Row, facts: BatchFacts) => object;
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

const HOLDER_CLOSED_COLUMNS = { account_id: "text", is_open: "int64" } as const satisfies Partial<
  typeof HOLDER_COLUMNS
>;

/** The columns that an erasure or a change of the personal data sets. */
const PERSON_COLUMNS = {
  account_id: "text",
  is_open: "int64",
  user_id: "text",
  phone_number: "bytes",
  phone_number_index: "bytes",
  phone_number_changed_at: "int64",
  email: "bytes",
  email_index: "bytes",
  email_changed_at: "int64",
  content_salt: "bytes",
} as const satisfies Partial<typeof HOLDER_COLUMNS>;

const REVERSED_COLUMNS = { id: "text", reversed_by_id: "text" } as const satisfies Partial<typeof TRANSACTION_COLUMNS>;

const TRANSACTION_STATUS_COLUMNS = {
  ...REVERSED_COLUMNS,
  status: "text",
  status_reason: "text",
  updated_at: "int64",
  completed_at: "int64",
} as const satisfies Columns;

const IDEMPOTENCY_KEY_COLUMNS = {
  book: "int64",
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
    insertedRow: (account, { book, seq, facts }) =>
      accountRowOf(account, { book: book.number, seq, lastSeq: facts.lastSeqOf(account.id) }),
    updates: [
      {
        columns: BALANCE_COLUMNS,
        fits: (before, after) => before.status === after.status && before.statusReason === after.statusReason,
        updatedRow: balanceRowOf,
      },
      {
        columns: STATUS_COLUMNS,
        fits: () => true,
        updatedRow: (account, facts): SqlRow<typeof STATUS_COLUMNS> => ({
          ...balanceRowOf(account, facts),
          status: account.status,
          status_reason: account.statusReason,
        }),
      },
    ],
  },
  accountHolders: {
    name: "account_holders",
    key: "account_id",
    columns: HOLDER_COLUMNS,
    insertedRow: (holder, { book, seq, facts }) =>
      holderRowOf(holder, { book, seq, salt: facts.personSaltOf(holder.accountId) }),
    updates: [
      {
        columns: HOLDER_CLOSED_COLUMNS,
        fits: (before, after) => before.person === after.person,
        updatedRow: ({ accountId, isOpen }): SqlRow<typeof HOLDER_CLOSED_COLUMNS> => ({
          account_id: accountId,
          is_open: isOpen ? 1 : 0,
        }),
      },
      { columns: PERSON_COLUMNS, fits: () => true, updatedRow: changedPersonRowOf },
    ],
  },
  transactions: {
    name: "transactions",
    key: "id",
    columns: TRANSACTION_COLUMNS,
    insertedRow: (transaction, { book, seq }) => transactionRowOf(transaction, { book: book.number, seq }),
    updates: [
      {
        columns: REVERSED_COLUMNS,
        fits: (before, after) => before.status === after.status,
        updatedRow: reversedRowOf,
      },
      { columns: TRANSACTION_STATUS_COLUMNS, fits: () => true, updatedRow: transactionStatusRowOf },
    ],
  },
  idempotencyKeys: {
    name: "idempotency_keys",
    key: "key",
    columns: IDEMPOTENCY_KEY_COLUMNS,
    insertedRow: (used, { book }): SqlRow<typeof IDEMPOTENCY_KEY_COLUMNS> => ({
      book: book.number,
      key: used.key,
      resource_id: used.resourceId,
      created_at: used.createdAt,
    }),
    updates: [],
  },
};

function balanceRowOf(account: LedgerAccount, facts: BatchFacts): SqlRow<typeof BALANCE_COLUMNS> {
  return {
    id: account.id,
    last_seq: facts.lastSeqOf(account.id),
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    updated_at: account.updatedAt,
  };
}

function changedPersonRowOf(holder: AccountHolder, facts: BatchFacts): SqlRow<typeof PERSON_COLUMNS> {
  const salt = holder.person === undefined ? "" : facts.personSaltOf(holder.accountId);
  return {
    account_id: holder.accountId,
    is_open: holder.isOpen ? 1 : 0,
    ...personRowOf(holder, { book: facts.bookOf(holder.organizationId), salt }),
  };
}

function reversedRowOf({ id, reversedById }: Transaction): SqlRow<typeof REVERSED_COLUMNS> {
  return { id, reversed_by_id: reversedById ?? null };
}

function transactionStatusRowOf(transaction: Transaction): SqlRow<typeof TRANSACTION_STATUS_COLUMNS> {
  return {
    ...reversedRowOf(transaction),
    status: transaction.status,
    status_reason: transaction.statusReason,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}
