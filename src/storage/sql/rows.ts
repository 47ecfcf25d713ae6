import type { Account, AccountStatus } from "../../domain/account.js";
import type { Rail, Transaction, TransactionStatus, TransactionType } from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import type { EmailAddress } from "../../domain/values/email-address.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { PhoneNumber } from "../../domain/values/phone-number.js";
import type { Description, Metadata, Reference, StatusReason, UserId } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { ColumnType } from "./engine.js";

/** A row of `accounts`, as both drivers read it. */
export interface AccountRow {
  readonly seq: number;
  /** The `seq` of the account's newest row in the journal. */
  readonly last_seq: number;
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly phone_number: string;
  readonly email: string;
  readonly status: string;
  readonly status_reason: string;
  readonly available_cents: number;
  readonly held_cents: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A row of `transactions`, as both drivers read it. */
export interface TransactionRow {
  readonly seq: number;
  readonly id: string;
  readonly organization_id: string;
  readonly account_id: string;
  readonly type: string;
  readonly status: string;
  readonly status_reason: string;
  readonly amount_cents: number;
  readonly reference: string;
  readonly description: string;
  /**
   * A JSON array of [key, value] pairs. An object would move keys that look like numbers to the
   * front.
   */
  readonly metadata: string;
  readonly rail: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
}

export const ACCOUNT_COLUMNS = {
  seq: "int64",
  last_seq: "int64",
  id: "text",
  organization_id: "text",
  user_id: "text",
  phone_number: "text",
  email: "text",
  status: "text",
  status_reason: "text",
  available_cents: "int64",
  held_cents: "int64",
  created_at: "int64",
  updated_at: "int64",
} as const satisfies Record<keyof AccountRow, ColumnType>;

export const TRANSACTION_COLUMNS = {
  seq: "int64",
  id: "text",
  organization_id: "text",
  account_id: "text",
  type: "text",
  status: "text",
  status_reason: "text",
  amount_cents: "int64",
  reference: "text",
  description: "text",
  metadata: "text",
  rail: "text",
  created_at: "int64",
  updated_at: "int64",
  completed_at: "int64",
} as const satisfies Record<keyof TransactionRow, ColumnType>;

// The service parsed every value before it wrote the row. So the code restores the brands without a
// second check. It checks the amounts again.
export function accountOf(row: AccountRow): Account {
  return {
    id: row.id as AccountId,
    organizationId: row.organization_id as OrganizationId,
    userId: row.user_id as UserId,
    phoneNumber: row.phone_number as PhoneNumber,
    email: row.email as EmailAddress,
    status: row.status as AccountStatus,
    statusReason: row.status_reason as StatusReason,
    availableCents: toCents(row.available_cents),
    heldCents: toCents(row.held_cents),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** `seq` and `lastSeq` are those of the account's first and last journal row. */
export function accountRowOf(account: Account, { seq, lastSeq }: { seq: number; lastSeq: number }): AccountRow {
  return {
    seq,
    last_seq: lastSeq,
    id: account.id,
    organization_id: account.organizationId,
    user_id: account.userId,
    phone_number: account.phoneNumber,
    email: account.email,
    status: account.status,
    status_reason: account.statusReason,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
}

export function transactionOf(row: TransactionRow): Transaction {
  return {
    id: row.id as TransactionId,
    organizationId: row.organization_id as OrganizationId,
    accountId: row.account_id as AccountId,
    type: row.type as TransactionType,
    status: row.status as TransactionStatus,
    statusReason: row.status_reason as StatusReason,
    amountCents: toCents(row.amount_cents),
    reference: row.reference as Reference,
    description: row.description as Description,
    metadata: new Map(JSON.parse(row.metadata) as [string, string][]) as ReadonlyMap<string, string> as Metadata,
    rail: row.rail as Rail,
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
    completedAt: row.completed_at === null ? undefined : toUnixMillis(row.completed_at),
  };
}

/** `seq` is that of the journal row that created the transaction. */
export function transactionRowOf(transaction: Transaction, seq: number): TransactionRow {
  return {
    seq,
    id: transaction.id,
    organization_id: transaction.organizationId,
    account_id: transaction.accountId,
    type: transaction.type,
    status: transaction.status,
    status_reason: transaction.statusReason,
    amount_cents: transaction.amountCents,
    reference: transaction.reference,
    description: transaction.description,
    metadata: JSON.stringify([...transaction.metadata]),
    rail: transaction.rail,
    created_at: transaction.createdAt,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}
