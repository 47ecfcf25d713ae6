import type { BookHead, BookState } from "../../../domain/book.js";
import { limitsFromText, limitsText } from "../../../domain/limits/limits.js";
import type { LimitsInForce } from "../../../domain/limits/usage.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { Columns } from "../engine.js";
import { USAGE_COLUMNS, usageOf, type UsageRow, usageRowOf } from "./usage-rows.js";

/** The columns of `books` that a batch changes. */
export const BOOK_COLUMNS = {
  number: "int64",
  last_seq: "int64",
  last_recorded_at: "int64",
  reserve_cents: "int64",
  shortfall_cents: "int64",
  available_cents: "int64",
  held_cents: "int64",
  unallocated_cents: "int64",
} as const satisfies Columns;

/** The columns of `books` that a batch changes where the organization has limits. */
export const BOOK_USAGE_COLUMNS = { number: "int64", ...USAGE_COLUMNS } as const satisfies Columns;

/** The columns of `books` that change with the limits. */
export const BOOK_LIMITS_COLUMNS = {
  number: "int64",
  limits: "text",
  limits_since: "int64",
} as const satisfies Columns;

/** The columns of `books` about limits. */
export type LimitsRow = UsageRow & {
  /** Null with `limits_since`, until the operator sets the first limits. */
  readonly limits: string | null;
  readonly limits_since: number | null;
};

/** A row of `books`, with the time at which the transaction began. */
export interface BookRow extends LimitsRow {
  readonly number: number;
  readonly organization_id: string;
  readonly state: string;
  readonly suspended_seq: number | null;
  readonly last_seq: number;
  readonly last_recorded_at: number;
  readonly clock_accepted_at: number | null;
  readonly reserve_cents: number;
  readonly shortfall_cents: number;
  readonly available_cents: number;
  readonly held_cents: number;
  readonly unallocated_cents: number;
  readonly begun_at: number | null;
}

export function bookHeadOf(row: BookRow): BookHead {
  return {
    organizationId: row.organization_id as OrganizationId,
    state: row.state as BookState,
    isSuspended: row.suspended_seq !== null,
    limits: limitsOf(row),
    lastSeq: row.last_seq,
    lastRecordedAt: toUnixMillis(row.last_recorded_at),
    ...(row.clock_accepted_at === null ? {} : { clockAcceptedAt: toUnixMillis(row.clock_accepted_at) }),
    sums: {
      reserve: row.reserve_cents,
      shortfall: row.shortfall_cents,
      available: row.available_cents,
      held: row.held_cents,
      unallocated: row.unallocated_cents,
    },
  };
}

export function limitsOf(row: LimitsRow): LimitsInForce | undefined {
  if (row.limits === null || row.limits_since === null) return undefined;
  return { ...limitsFromText(row.limits), since: toUnixMillis(row.limits_since), usage: usageOf(row) };
}

/** Returns undefined if the database shares the clock of this machine, or if there is no row. */
export function begunAtOf([row]: readonly BookRow[]): UnixMillis | undefined {
  return row === undefined || row.begun_at === null ? undefined : toUnixMillis(row.begun_at);
}

/** A row of `books` to write. */
type Row<Of extends Columns> = Readonly<Record<keyof Of, string | number | null>>;

export function bookRowOf({ lastSeq, lastRecordedAt, sums }: BookHead, number: number): Row<typeof BOOK_COLUMNS> {
  return {
    number,
    last_seq: lastSeq,
    last_recorded_at: lastRecordedAt,
    reserve_cents: sums.reserve,
    shortfall_cents: sums.shortfall,
    available_cents: sums.available,
    held_cents: sums.held,
    unallocated_cents: sums.unallocated,
  };
}

/** Returns no row for an organization without limits. */
export function bookUsageRows({ limits }: BookHead, number: number): readonly Row<typeof BOOK_USAGE_COLUMNS>[] {
  return limits === undefined ? [] : [{ number, ...usageRowOf(limits.usage) }];
}

/** Returns no row if the limits are those that were loaded. */
export function bookLimitsRows(
  { limits }: BookHead,
  loaded: LimitsInForce | undefined,
  number: number,
): readonly Row<typeof BOOK_LIMITS_COLUMNS>[] {
  if (limits === undefined) return [];
  const isAsLoaded = limits.tiers === loaded?.tiers && limits.organization === loaded.organization;
  return isAsLoaded ? [] : [{ number, limits: limitsText(limits), limits_since: limits.since }];
}
