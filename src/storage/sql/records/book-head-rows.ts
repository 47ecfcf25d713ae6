import type { BookHead, BookState } from "../../../domain/book.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";

/** A row of `books`, with the time at which the transaction began. */
export interface BookRow {
  readonly number: number;
  readonly organization_id: string;
  readonly state: string;
  readonly suspended_seq: number | null;
  readonly last_seq: number;
  readonly last_recorded_at: number;
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
    lastSeq: row.last_seq,
    lastRecordedAt: toUnixMillis(row.last_recorded_at),
    sums: {
      reserve: row.reserve_cents,
      shortfall: row.shortfall_cents,
      available: row.available_cents,
      held: row.held_cents,
      unallocated: row.unallocated_cents,
    },
  };
}

/** Returns undefined if the database shares the clock of this machine, or if there is no row. */
export function begunAtOf([row]: readonly BookRow[]): UnixMillis | undefined {
  return row === undefined || row.begun_at === null ? undefined : toUnixMillis(row.begun_at);
}
