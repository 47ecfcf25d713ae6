import type { BookHead, BookState } from "../../../domain/book.js";
import { limitsFromText, limitsText } from "../../../domain/limits/limits.js";
import type { LimitsInForce } from "../../../domain/limits/usage.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import { type RowOf, typesOf } from "../../../model/column.js";
import { BOOKS } from "../../../model/organizations.js";
import { bookMac } from "../../secrets/balance-mac.js";
import { readPart } from "../../secrets/unreadable-row.js";
import type { OpenBook } from "../book-directory.js";
import type { Columns } from "../engine.js";
import { SUM_COLUMNS, sumColumnsOf, sumsOf, USAGE_NAMES, usageOf, usageRowOf } from "./sum-columns.js";

/** The columns of `books` that a batch changes. */
export const BOOK_COLUMNS = typesOf(BOOKS, ["number", "last_seq", "last_recorded_at", ...SUM_COLUMNS, "mac"]);

/** The columns of `books` that a batch changes where the organization has limits. */
export const BOOK_USAGE_COLUMNS = typesOf(BOOKS, ["number", ...USAGE_NAMES]);

/** The columns of `books` that change with the limits. */
export const BOOK_LIMITS_COLUMNS = typesOf(BOOKS, ["number", "limits", "limits_since"]);

/** The columns of `books` that an operator switches. */
export const BOOK_SWITCH_COLUMNS = typesOf(BOOKS, [
  "number",
  "suspended_seq",
  "receipts_required_seq",
  "reserve_rules",
  "payout_list",
]);

/** The columns of `books` about limits. */
export type LimitsRow = Pick<RowOf<typeof BOOKS>, (typeof USAGE_NAMES)[number] | "limits" | "limits_since">;

/** A row of `books`, with the time at which the transaction began. */
export type BookRow = RowOf<typeof BOOKS> & { readonly begun_at: number | null };

/** The row as a batch loads it. */
export interface LoadedBookRow extends BookRow {
  /** 1 if the journal has newer rows than the row says. */
  readonly is_old: number;
}

/** Returns whether the service wrote the row, and wrote it last. */
export function isBookAsWritten(row: LoadedBookRow, { balanceKey }: Pick<OpenBook, "balanceKey">): boolean {
  return row.is_old === 0 && row.mac === bookMac(balanceKey, row);
}

export function bookHeadOf(row: BookRow): BookHead {
  return {
    organizationId: row.organization_id as OrganizationId,
    state: row.state as BookState,
    suspendedSeq: row.suspended_seq ?? undefined,
    receiptsRequiredSeq: row.receipts_required_seq ?? undefined,
    limits: limitsOf(row),
    ...(row.reserve_rules === null ? {} : { reserveRules: row.reserve_rules }),
    ...(row.payout_list === null ? {} : { payoutList: row.payout_list }),
    lastSeq: row.last_seq,
    lastRecordedAt: toUnixMillis(row.last_recorded_at),
    ...(row.clock_accepted_at === null ? {} : { clockAcceptedAt: toUnixMillis(row.clock_accepted_at) }),
    sums: sumsOf(row),
  };
}

export function limitsOf(row: LimitsRow): LimitsInForce | undefined {
  const { limits } = row;
  if (limits === null || row.limits_since === null) return undefined;
  const inForce = readPart("limits in a row of books", () => limitsFromText(limits));
  return { ...inForce, since: toUnixMillis(row.limits_since), usage: usageOf(row) };
}

/** Returns undefined if the database shares the clock of this machine, or if there is no row. */
export function begunAtOf([row]: readonly BookRow[]): UnixMillis | undefined {
  return row === undefined || row.begun_at === null ? undefined : toUnixMillis(row.begun_at);
}

/** A row of `books` to write. */
type NumberedBookRow<Of extends Columns> = Readonly<Record<keyof Of, string | number | null>>;

export function bookRowOf(
  head: BookHead,
  { number, balanceKey }: Pick<OpenBook, "number" | "balanceKey">,
): NumberedBookRow<typeof BOOK_COLUMNS> {
  const { organizationId, lastSeq, lastRecordedAt } = head;
  const row = { last_seq: lastSeq, ...sumColumnsOf(head.sums) };
  const mac = bookMac(balanceKey, {
    organization_id: organizationId,
    ...row,
    ...switchColumnsOf(head),
    ...limitsColumnsOf(head),
    ...usageRowOf(head.limits?.usage),
  });
  return { number, last_recorded_at: lastRecordedAt, ...row, mac };
}

/** Returns no row for an organization without limits. */
export function bookUsageRows(
  { limits }: BookHead,
  number: number,
): readonly NumberedBookRow<typeof BOOK_USAGE_COLUMNS>[] {
  return limits === undefined ? [] : [{ number, ...usageRowOf(limits.usage) }];
}

/** Returns no row if the limits are those that were loaded. */
export function bookLimitsRows(
  { limits }: BookHead,
  loaded: LimitsInForce | undefined,
  number: number,
): readonly NumberedBookRow<typeof BOOK_LIMITS_COLUMNS>[] {
  if (limits === undefined) return [];
  const isAsLoaded = limits.tiers === loaded?.tiers && limits.organization === loaded.organization;
  return isAsLoaded ? [] : [{ number, ...limitsColumnsOf({ limits }) }];
}

function limitsColumnsOf({ limits }: Pick<BookHead, "limits">): Pick<LimitsRow, "limits" | "limits_since"> {
  return { limits: limits === undefined ? null : limitsText(limits), limits_since: limits?.since ?? null };
}

type Switches = "suspendedSeq" | "receiptsRequiredSeq" | "reserveRules" | "payoutList";

/** Returns no row if the switches are as they were loaded. */
export function bookSwitchRows(
  head: BookHead,
  loaded: Pick<BookHead, Switches> | undefined,
  number: number,
): readonly NumberedBookRow<typeof BOOK_SWITCH_COLUMNS>[] {
  const row = switchColumnsOf(head);
  return JSON.stringify(row) === JSON.stringify(switchColumnsOf(loaded ?? {})) ? [] : [{ number, ...row }];
}

function switchColumnsOf({
  suspendedSeq,
  receiptsRequiredSeq,
  reserveRules,
  payoutList,
}: Partial<Pick<BookHead, Switches>>) {
  return {
    suspended_seq: suspendedSeq ?? null,
    receipts_required_seq: receiptsRequiredSeq ?? null,
    reserve_rules: reserveRules ?? null,
    payout_list: payoutList ?? null,
  };
}
