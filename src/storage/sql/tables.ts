import type { AccountHolder, LedgerAccount } from "../../domain/account.js";
import type { TableName, Tables } from "../../domain/decision.js";
import type { Freeze } from "../../domain/freeze.js";
import type { Payment } from "../../domain/payment.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, OrganizationId } from "../../domain/values/ids.js";
import type { OpenBook } from "./book-directory.js";
import type { Columns } from "./engine.js";
import { FREEZE_COLUMNS, freezeRowOf, liftColumnsOf } from "./freeze-rows.js";
import { ACCOUNT_COLUMNS, accountRowOf } from "./records/account-rows.js";
import { PAYMENT_COLUMNS, paymentRowOf, PROPOSAL_COLUMNS, proposalRowOf } from "./records/payment-rows.js";
import { USAGE_COLUMNS, usageRowOf } from "./records/usage-rows.js";
import { flagsText, HOLDER_COLUMNS, holderRowOf, personRowOf, TRANSACTION_COLUMNS, transactionRowOf } from "./rows.js";

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

/** The columns that change, too, if the account has limits, or when a payment begins or ends. */
const COUNT_COLUMNS = { ...BALANCE_COLUMNS, open_payments: "int64", ...USAGE_COLUMNS } as const satisfies Columns;

const STATUS_COLUMNS = {
  ...COUNT_COLUMNS,
  tier: "text",
  status: "text",
  status_reason: "text",
} as const satisfies Columns;

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

const LIFT_COLUMNS = {
  id: "text",
  lifted_by: "text",
  lifted_at: "int64",
  lift_reason: "text",
} as const satisfies Partial<typeof FREEZE_COLUMNS>;

const REVERSED_COLUMNS = { id: "text", reversed_by_id: "text" } as const satisfies Partial<typeof TRANSACTION_COLUMNS>;

const TRANSACTION_STATUS_COLUMNS = {
  ...REVERSED_COLUMNS,
  rail_movement: "text",
  rail_receipt: "text",
  failure: "text",
  open_flags: "text",
  status: "text",
  status_reason: "text",
  updated_at: "int64",
  completed_at: "int64",
} as const satisfies Columns;

const PAYMENT_PROGRESS_COLUMNS = {
  transaction_id: "text",
  state: "text",
  rail_reference: "text",
  begun_at: "int64",
  sends: "int64",
  turned_away: "int64",
  due_at: "int64",
  updated_at: "int64",
} as const satisfies Partial<typeof PAYMENT_COLUMNS>;

const PAYMENT_END_COLUMNS = { ...PAYMENT_PROGRESS_COLUMNS, phone_number: "bytes" } as const satisfies Partial<
  typeof PAYMENT_COLUMNS
>;

const PROPOSAL_CHANGE_COLUMNS = {
  subject: "text",
  content: "text",
  person: "text",
  proposed_at: "int64",
  done_at: "int64",
} as const satisfies Partial<typeof PROPOSAL_COLUMNS>;

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
        fits: hasSameCounts,
        updatedRow: balanceRowOf,
      },
      { columns: COUNT_COLUMNS, fits: hasSameStatus, updatedRow: countRowOf },
      {
        columns: STATUS_COLUMNS,
        fits: () => true,
        updatedRow: (account, facts): SqlRow<typeof STATUS_COLUMNS> => ({
          ...countRowOf(account, facts),
          tier: account.tier,
          status: account.status,
          status_reason: account.statusNote,
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
  freezes: {
    name: "freezes",
    key: "id",
    columns: FREEZE_COLUMNS,
    insertedRow: (freeze, { book, seq }) => freezeRowOf(freeze, { book: book.number, seq }),
    updates: [
      {
        columns: LIFT_COLUMNS,
        fits: () => true,
        updatedRow: (freeze: Freeze): SqlRow<typeof LIFT_COLUMNS> => ({ id: freeze.id, ...liftColumnsOf(freeze) }),
      },
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
        fits: hasSameProgress,
        updatedRow: reversedRowOf,
      },
      { columns: TRANSACTION_STATUS_COLUMNS, fits: () => true, updatedRow: transactionStatusRowOf },
    ],
  },
  payments: {
    name: "payments",
    key: "transaction_id",
    columns: PAYMENT_COLUMNS,
    insertedRow: (payment, { book }) => paymentRowOf(payment, book),
    updates: [
      {
        columns: PAYMENT_PROGRESS_COLUMNS,
        fits: (before, after) => after.state !== "ENDED",
        updatedRow: progressRowOf,
      },
      {
        columns: PAYMENT_END_COLUMNS,
        fits: () => true,
        updatedRow: (payment): SqlRow<typeof PAYMENT_END_COLUMNS> => ({
          ...progressRowOf(payment),
          phone_number: null,
        }),
      },
    ],
  },
  proposals: {
    name: "proposals",
    key: "subject",
    columns: PROPOSAL_COLUMNS,
    insertedRow: (proposal, { book }) => proposalRowOf(proposal, book),
    updates: [
      {
        columns: PROPOSAL_CHANGE_COLUMNS,
        fits: () => true,
        updatedRow: ({ subject, content, person, proposedAt, doneAt }): SqlRow<typeof PROPOSAL_CHANGE_COLUMNS> => ({
          subject,
          content,
          person,
          proposed_at: proposedAt,
          done_at: doneAt ?? null,
        }),
      },
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

function hasSameStatus(before: LedgerAccount, after: LedgerAccount): boolean {
  return before.status === after.status && before.statusNote === after.statusNote && before.tier === after.tier;
}

function hasSameCounts(before: LedgerAccount, after: LedgerAccount): boolean {
  return hasSameStatus(before, after) && before.openPayments === after.openPayments && before.usage === after.usage;
}

function countRowOf(account: LedgerAccount, facts: BatchFacts): SqlRow<typeof COUNT_COLUMNS> {
  return {
    ...balanceRowOf(account, facts),
    open_payments: account.openPayments,
    ...usageRowOf(account.usage),
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

function progressRowOf(payment: Payment): SqlRow<typeof PAYMENT_PROGRESS_COLUMNS> {
  return {
    transaction_id: payment.transactionId,
    state: payment.state,
    rail_reference: payment.railReference ?? null,
    begun_at: payment.begunAt ?? null,
    sends: payment.sends,
    turned_away: payment.turnedAway,
    due_at: payment.dueAt,
    updated_at: payment.updatedAt,
  };
}

/** Whether a reversal is all that changed, if anything did. */
function hasSameProgress(before: Transaction, after: Transaction): boolean {
  return (
    before.status === after.status &&
    before.openFlags === after.openFlags &&
    before.railReceipt === after.railReceipt &&
    before.updatedAt === after.updatedAt
  );
}

function reversedRowOf({ id, reversedById }: Transaction): SqlRow<typeof REVERSED_COLUMNS> {
  return { id, reversed_by_id: reversedById ?? null };
}

function transactionStatusRowOf(transaction: Transaction): SqlRow<typeof TRANSACTION_STATUS_COLUMNS> {
  return {
    ...reversedRowOf(transaction),
    rail_movement: transaction.railMovement ?? null,
    rail_receipt: transaction.railReceipt ?? null,
    failure: transaction.failure ?? null,
    open_flags: flagsText(transaction.openFlags),
    status: transaction.status,
    status_reason: transaction.statusReason,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}
