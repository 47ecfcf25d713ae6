import type { AccountHolder, LedgerAccount } from "../../domain/account.js";
import type { TableName, Tables } from "../../domain/decision.js";
import type { Freeze } from "../../domain/freeze.js";
import type { Payment } from "../../domain/payment.js";
import type { Transaction } from "../../domain/transaction.js";
import { ACCOUNT_HOLDERS, ACCOUNTS, FREEZES } from "../../model/accounts.js";
import { changedNamesOf, type InsertedRow, insertedTypesOf, typesOf } from "../../model/column.js";
import { API_KEYS, RESERVE_PLACES } from "../../model/organizations.js";
import { RAIL_ACCOUNTS } from "../../model/rails.js";
import { IDEMPOTENCY_KEYS, PAYMENTS, PROPOSALS, TRANSACTIONS } from "../../model/transactions.js";
import { freezeRowOf, liftColumnsOf } from "./freeze-rows.js";
import { apiKeyRowOf } from "./organization-rows.js";
import { accountColumnsOf } from "./records/account-rows.js";
import { DEPOSIT_TABLE } from "./records/deposit-rows.js";
import { DESTINATION_TABLE } from "./records/destination-rows.js";
import { paymentRowOf, PROGRESS_NAMES, progressOf } from "./records/payment-rows.js";
import { proposalRowOf } from "./records/proposal-rows.js";
import { railAccountRowOf } from "./records/rail-account-rows.js";
import { reservePlaceRowOf } from "./records/reserve-place-rows.js";
import { USAGE_NAMES, usageRowOf } from "./records/sum-columns.js";
import { flagsText, holderRowOf, personRowOf, transactionRowOf } from "./rows.js";
import type { BatchFacts, SqlRow, Table } from "./table.js";

const BALANCE_NAMES = ["id", "last_seq", "available_cents", "held_cents", "updated_at", "mac"] as const;
/** The columns that every mint and redemption changes. */
const BALANCE_COLUMNS = typesOf(ACCOUNTS, BALANCE_NAMES);

/** The fields of `BALANCE_COLUMNS`. */
const BALANCE_FIELDS = ["lastSeq", "availableCents", "heldCents", "updatedAt"] as const;

const COUNT_NAMES = [...BALANCE_NAMES, "open_payments", ...USAGE_NAMES] as const;
/** The columns that change, too, if the account has limits, or when a payment begins or ends. */
const COUNT_COLUMNS = typesOf(ACCOUNTS, COUNT_NAMES);
const COUNT_FIELDS = [...BALANCE_FIELDS, "openPayments", "usage"] as const;

const ACCOUNT_CHANGE_COLUMNS = typesOf(ACCOUNTS, ["id", ...changedNamesOf(ACCOUNTS)]);

const HOLDER_CLOSED_COLUMNS = typesOf(ACCOUNT_HOLDERS, ["account_id", "is_open"]);

/** The columns that an erasure or a change of the personal data sets. */
const PERSON_COLUMNS = typesOf(ACCOUNT_HOLDERS, ["account_id", ...changedNamesOf(ACCOUNT_HOLDERS)]);

const LIFT_COLUMNS = typesOf(FREEZES, ["id", ...changedNamesOf(FREEZES)]);

const REVERSED_COLUMNS = typesOf(TRANSACTIONS, ["id", "reversed_by_id"]);

const TRANSACTION_STATUS_COLUMNS = typesOf(TRANSACTIONS, ["id", ...changedNamesOf(TRANSACTIONS)]);

const PAYMENT_PROGRESS_COLUMNS = typesOf(PAYMENTS, ["transaction_id", ...PROGRESS_NAMES]);

const PAYMENT_END_COLUMNS = typesOf(PAYMENTS, ["transaction_id", ...changedNamesOf(PAYMENTS)]);

const PROPOSAL_CHANGE_COLUMNS = typesOf(PROPOSALS, ["subject", ...changedNamesOf(PROPOSALS)]);

const RAIL_WARNING_COLUMNS = typesOf(RAIL_ACCOUNTS, ["id", "warnings"]);

const RAIL_ACCOUNT_CHANGE_COLUMNS = typesOf(RAIL_ACCOUNTS, ["id", ...changedNamesOf(RAIL_ACCOUNTS)]);

const REVOKED_COLUMNS = typesOf(API_KEYS, ["id", "revoked_seq", "revoked_at", "mac"]);

/** The store writes the tables in this order: a row comes after the rows that it refers to. */
export const TABLES: { readonly [Name in TableName]: Table<Tables[Name]> } = {
  accounts: {
    name: "accounts",
    key: "id",
    columns: insertedTypesOf(ACCOUNTS),
    insertedRow: (account, { book, seq, facts }) => ({
      book: book.number,
      seq,
      ...accountColumnsOf(account, facts.lastSeqOf(account.id), book),
    }),
    updates: [
      { columns: BALANCE_COLUMNS, fits: changesOnly(BALANCE_FIELDS), updatedRow: balanceRowOf },
      { columns: COUNT_COLUMNS, fits: changesOnly(COUNT_FIELDS), updatedRow: countRowOf },
      {
        columns: ACCOUNT_CHANGE_COLUMNS,
        fits: () => true,
        updatedRow: (account, facts): SqlRow<typeof ACCOUNT_CHANGE_COLUMNS> => changedAccountRowOf(account, facts),
      },
    ],
  },
  accountHolders: {
    name: "account_holders",
    key: "account_id",
    columns: insertedTypesOf(ACCOUNT_HOLDERS),
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
    columns: insertedTypesOf(FREEZES),
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
    columns: insertedTypesOf(TRANSACTIONS),
    insertedRow: (transaction, { book, seq }) => transactionRowOf(transaction, { book: book.number, seq }),
    updates: [
      {
        columns: REVERSED_COLUMNS,
        fits: changesOnly(["reversedById"]),
        updatedRow: reversedRowOf,
      },
      { columns: TRANSACTION_STATUS_COLUMNS, fits: () => true, updatedRow: transactionStatusRowOf },
    ],
  },
  payments: {
    name: "payments",
    key: "transaction_id",
    columns: insertedTypesOf(PAYMENTS),
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
  deposits: DEPOSIT_TABLE,
  proposals: {
    name: "proposals",
    key: "subject",
    columns: insertedTypesOf(PROPOSALS),
    insertedRow: (proposal, { book }) => proposalRowOf(proposal, book),
    updates: [
      {
        columns: PROPOSAL_CHANGE_COLUMNS,
        fits: () => true,
        updatedRow: (proposal, facts) => proposalRowOf(proposal, facts.bookOf(proposal.organizationId)),
      },
    ],
  },
  apiKeys: {
    name: "api_keys",
    key: "id",
    columns: insertedTypesOf(API_KEYS),
    insertedRow: (key, { book, seq, changedSeq }) => apiKeyRowOf(key, { ...book, seq, changedSeq }),
    updates: [
      {
        columns: REVOKED_COLUMNS,
        fits: () => true,
        updatedRow: (key, facts, seq) =>
          apiKeyRowOf(key, { ...facts.bookOf(key.organizationId), seq: 0, changedSeq: seq }),
      },
    ],
  },
  railAccounts: {
    name: "rail_accounts",
    key: "id",
    columns: insertedTypesOf(RAIL_ACCOUNTS),
    insertedRow: (account, { book }) => railAccountRowOf(account, book),
    updates: [
      // A warning is nobody's decision: it makes no row whole that somebody has changed.
      {
        columns: RAIL_WARNING_COLUMNS,
        fits: changesOnly(["warnings"]),
        updatedRow: ({ id, warnings }): SqlRow<typeof RAIL_WARNING_COLUMNS> => ({
          id,
          warnings: JSON.stringify(warnings),
        }),
      },
      {
        columns: RAIL_ACCOUNT_CHANGE_COLUMNS,
        fits: () => true,
        updatedRow: (account, facts) => railAccountRowOf(account, facts.bookOf(account.organizationId)),
      },
    ],
  },
  reservePlaces: {
    name: "reserve_places",
    key: RESERVE_PLACES.key,
    columns: insertedTypesOf(RESERVE_PLACES),
    insertedRow: (place, { book }) => reservePlaceRowOf(place, book.number),
    updates: [
      {
        columns: insertedTypesOf(RESERVE_PLACES),
        fits: () => true,
        updatedRow: (place, facts) => reservePlaceRowOf(place, facts.bookOf(place.organizationId).number),
      },
    ],
  },
  idempotencyKeys: {
    name: "idempotency_keys",
    key: "key",
    columns: insertedTypesOf(IDEMPOTENCY_KEYS),
    insertedRow: (used, { book }): InsertedRow<typeof IDEMPOTENCY_KEYS> => ({
      book: book.number,
      key: used.key,
      resource_id: used.resourceId,
      created_at: used.createdAt,
    }),
    updates: [],
  },
  destinations: DESTINATION_TABLE,
};

function changedAccountRowOf(account: LedgerAccount, facts: BatchFacts): SqlRow<typeof ACCOUNT_CHANGE_COLUMNS> {
  return accountColumnsOf(account, facts.lastSeqOf(account.id), facts.bookOf(account.organizationId));
}

/** Its `mac` covers the columns that do not change, too. */
function balanceRowOf(account: LedgerAccount, facts: BatchFacts): SqlRow<typeof BALANCE_COLUMNS> {
  const { id, last_seq, available_cents, held_cents, updated_at, mac } = changedAccountRowOf(account, facts);
  return { id, last_seq, available_cents, held_cents, updated_at, mac };
}

function countRowOf(account: LedgerAccount, facts: BatchFacts): SqlRow<typeof COUNT_COLUMNS> {
  return { ...balanceRowOf(account, facts), open_payments: account.openPayments, ...usageRowOf(account.usage) };
}

/** Returns whether no field differs but these. */
function changesOnly<Row extends object>(fields: readonly (keyof Row)[]): (before: Row, after: Row) => boolean {
  const changed = new Set<PropertyKey>(fields);
  return (before, after) => {
    for (const name in after) if (before[name] !== after[name] && !changed.has(name)) return false;
    return true;
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
  return { transaction_id: payment.transactionId, ...progressOf(payment) };
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
