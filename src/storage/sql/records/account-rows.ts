import type { AccountStatus, LedgerAccount } from "../../../domain/account.js";
import type { TierName } from "../../../domain/limits/limits.js";
import { toCents } from "../../../domain/values/cents.js";
import type { DepositReference } from "../../../domain/values/deposit-reference.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { ACCOUNTS } from "../../../model/accounts.js";
import type { RowOf } from "../../../model/column.js";
import type { OpenBook } from "../book-directory.js";
import { usageOf, usageRowOf } from "./sum-columns.js";

/** A row of `accounts`, as both drivers read it. */
export type AccountRow = RowOf<typeof ACCOUNTS>;

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
export function accountColumnsOf(account: LedgerAccount, lastSeq: number): Omit<AccountRow, "book" | "seq"> {
  return {
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
}
