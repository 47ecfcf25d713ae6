import type { AccountStatus, LedgerAccount } from "../../../domain/account.js";
import type { TierName } from "../../../domain/limits/limits.js";
import { toCents } from "../../../domain/values/cents.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { OpenBook } from "../book-directory.js";
import type { ColumnType } from "../engine.js";
import { USAGE_COLUMNS, usageOf, type UsageRow, usageRowOf } from "./usage-rows.js";

/** A row of `accounts`, as both drivers read it. */
export interface AccountRow extends UsageRow {
  readonly book: number;
  readonly seq: number;
  /** The `seq` of the account's newest row in the journal. */
  readonly last_seq: number;
  readonly id: string;
  readonly status: string;
  readonly status_reason: string;
  readonly available_cents: number;
  readonly held_cents: number;
  readonly open_payments: number;
  readonly tier: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export const ACCOUNT_COLUMNS = {
  book: "int64",
  seq: "int64",
  last_seq: "int64",
  id: "text",
  status: "text",
  status_reason: "text",
  available_cents: "int64",
  held_cents: "int64",
  open_payments: "int64",
  tier: "text",
  ...USAGE_COLUMNS,
  created_at: "int64",
  updated_at: "int64",
} as const satisfies Record<keyof AccountRow, ColumnType>;

// The service parsed every value before it wrote the row. The code checks the amounts again.
export function ledgerAccountOf(row: AccountRow, { organizationId }: OpenBook): LedgerAccount {
  return {
    id: row.id as AccountId,
    organizationId,
    status: row.status as AccountStatus,
    statusNote: row.status_reason as StatusReason,
    availableCents: toCents(row.available_cents),
    heldCents: toCents(row.held_cents),
    openPayments: row.open_payments,
    tier: row.tier as TierName,
    usage: usageOf(row),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
    lastSeq: row.last_seq,
  };
}

export function accountRowOf(
  account: LedgerAccount,
  { book, seq, lastSeq }: { book: number; seq: number; lastSeq: number },
): AccountRow {
  return {
    book,
    seq,
    last_seq: lastSeq,
    id: account.id,
    status: account.status,
    status_reason: account.statusNote,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    open_payments: account.openPayments,
    tier: account.tier,
    ...usageRowOf(account.usage),
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
}
