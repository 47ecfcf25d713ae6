import type { AccountStatus, LedgerAccount } from "../../../domain/account.js";
import type { TierName } from "../../../domain/limits/limits.js";
import { toCents } from "../../../domain/values/cents.js";
import type { DepositReference } from "../../../domain/values/deposit-reference.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { ACCOUNTS } from "../../../model/accounts.js";
import { changedNamesOf, type RowOf } from "../../../model/column.js";
import { DEBITS_OF_ACCOUNTS } from "../../../model/transactions.js";
import { accountMac, hasTrueAccountMac } from "../../secrets/balance-mac.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import { type BatchFacts, changesOnly, type Table } from "../table.js";
import { USAGE_NAMES, usageOf, usageRowOf } from "./sum-columns.js";

/** A row of `accounts`, as both drivers read it. */
export type AccountRow = RowOf<typeof ACCOUNTS>;

/** The row as a batch loads it. */
interface LoadedAccountRow extends AccountRow {
  /** 1 if the journal has newer rows, with which the account had less or another status. */
  readonly is_spent: number;
}

/** The columns that every mint and redemption changes, and their fields. */
const BALANCE_NAMES = ["last_seq", "available_cents", "held_cents", "updated_at", "mac"] as const;
const BALANCE_FIELDS = ["lastSeq", "availableCents", "heldCents", "updatedAt"] as const;

/** Those that change, too, if the account has limits, or when a payment begins or ends. */
const COUNT_NAMES = [...BALANCE_NAMES, "open_payments", ...USAGE_NAMES] as const;
const COUNT_FIELDS = [...BALANCE_FIELDS, "openPayments", "usage"] as const;

export const ACCOUNT_TABLE: Table<LedgerAccount, LoadedAccountRow> = {
  name: "accounts",
  key: "id",
  insertedRow: (account, { book, seq, facts }) => ({
    book: book.number,
    seq,
    ...accountColumnsOf(account, facts.lastSeqOf(account.id), book),
  }),
  // Locks the accounts in the order of their ids, so that two batches cannot deadlock.
  reads: (engine, { list, keyed, used, referred }) => {
    const { table, within, forUpdate } = engine;
    const ids = `
      ${list} UNION ALL SELECT account_id FROM ${table("transactions")} WHERE ${within("id", list)}
      UNION ALL ${keyed} UNION ALL ${used} UNION ALL ${referred}`;
    const sql = `
      SELECT a.*, ${isSpentSince(engine)} AS is_spent
      FROM ${table("accounts")} a WHERE ${within("a.id", ids)} ORDER BY a.id ${forUpdate}`;
    return [
      { finders: ["account", "transaction", "idempotencyKey", "accountOfUser", "accountWithDepositReference"], sql },
    ];
  },
  rowOf: ledgerAccountOf,
  isAsWritten: isAccountAsWritten,
  updates: [
    { sets: BALANCE_NAMES, fits: changesOnly(BALANCE_FIELDS), updatedRow: balanceRowOf },
    { sets: COUNT_NAMES, fits: changesOnly(COUNT_FIELDS), updatedRow: countRowOf },
    { sets: changedNamesOf(ACCOUNTS) },
  ],
};

/**
 * Returns an expression: 1 if the journal has a row of the account that took from its balances, or
 * changed its status or tier, and that is newer than the row `a` of `accounts` says. Otherwise 0.
 */
function isSpentSince({ table }: Engine): string {
  return `CASE WHEN EXISTS (
            SELECT 1 FROM ${table("journal")} WHERE account_id = a.id AND seq > a.last_seq AND ${DEBITS_OF_ACCOUNTS}
          ) THEN 1 ELSE 0 END`;
}

/** Returns whether the service wrote the row, and wrote none after it that says less. */
function isAccountAsWritten(row: LoadedAccountRow, { balanceKey }: Pick<OpenBook, "balanceKey">): boolean {
  return row.is_spent === 0 && hasTrueAccountMac(balanceKey, row);
}

// The service parsed every value before it wrote the row. The code checks the amounts again.
export function ledgerAccountOf(row: AccountRow, { organizationId }: Pick<OpenBook, "organizationId">): LedgerAccount {
  return {
    id: row.id as AccountId,
    organizationId,
    status: row.status as AccountStatus,
    statusNote: row.status_reason as StatusReason,
    availableCents: toCents(row.available_cents),
    heldCents: toCents(row.held_cents),
    openPayments: row.open_payments,
    tier: row.tier as TierName,
    depositReference: (row.deposit_reference ?? undefined) as DepositReference | undefined,
    usage: usageOf(row),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
    lastSeq: row.last_seq,
  };
}

/**
 * The columns that follow from the account itself. `lastSeq` is the `seq` of its newest row in the
 * journal.
 */
function accountColumnsOf(
  account: LedgerAccount,
  lastSeq: number,
  { balanceKey }: Pick<OpenBook, "balanceKey">,
): Omit<AccountRow, "book" | "seq"> {
  const row = {
    last_seq: lastSeq,
    id: account.id,
    status: account.status,
    status_reason: account.statusNote,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    open_payments: account.openPayments,
    tier: account.tier,
    deposit_reference: account.depositReference ?? null,
    ...usageRowOf(account.usage),
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
  return { ...row, mac: accountMac(balanceKey, row) };
}

/** Its `mac` covers the columns that do not change, too. */
function balanceRowOf(
  account: LedgerAccount,
  facts: BatchFacts,
): Pick<AccountRow, "id" | (typeof BALANCE_NAMES)[number]> {
  const book = facts.bookOf(account.organizationId);
  const row = accountColumnsOf(account, facts.lastSeqOf(account.id), book);
  const { id, last_seq, available_cents, held_cents, updated_at, mac } = row;
  return { id, last_seq, available_cents, held_cents, updated_at, mac };
}

function countRowOf(account: LedgerAccount, facts: BatchFacts): Pick<AccountRow, "id" | (typeof COUNT_NAMES)[number]> {
  return { ...balanceRowOf(account, facts), open_payments: account.openPayments, ...usageRowOf(account.usage) };
}
