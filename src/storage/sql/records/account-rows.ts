import type { AccountStatus, LedgerAccount } from "../../../domain/account.js";
import type { TierName } from "../../../domain/limits/limits.js";
import { toCents } from "../../../domain/values/cents.js";
import type { DepositReference } from "../../../domain/values/deposit-reference.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { ACCOUNTS } from "../../../model/accounts.js";
import type { RowOf } from "../../../model/column.js";
import { accountMac, hasTrueAccountMac } from "../../secrets/balance-mac.js";
import type { OpenBook } from "../book-directory.js";
import { usageOf, usageRowOf } from "./sum-columns.js";

/** A row of `accounts`, as both drivers read it. */
export type AccountRow = RowOf<typeof ACCOUNTS>;

/** The row as a batch loads it. */
export interface LoadedAccountRow extends AccountRow {
  /** 1 if the journal has newer rows, with which the account had less or another status. */
  readonly is_spent: number;
}

/** Returns whether the service wrote the row, and wrote none after it that says less. */
export function isAccountAsWritten(row: LoadedAccountRow, { balanceKey }: Pick<OpenBook, "balanceKey">): boolean {
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
export function accountColumnsOf(
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
