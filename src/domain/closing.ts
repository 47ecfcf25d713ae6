import type { OrganizationId } from "./values/ids.js";
import type { Month } from "./values/month.js";
import type { UnixMillis } from "./values/time.js";

/** What the closing of a month keeps. With the rows of the month it makes the pack, whenever. */
export interface ClosedMonth {
  readonly month: Month;
  /** The last row of the month. */
  readonly lastSeq: number;
  /**
   * The texts of the files that the rows of the month do not make, by the names of the files: the
   * manifest and its signature, the checkpoint, what was compared, and what was open.
   */
  readonly kept: Readonly<Record<string, string>>;
}

/** A month that was closed, and the row that closed it. */
export interface Closing extends ClosedMonth {
  readonly organizationId: OrganizationId;
  readonly seq: number;
  readonly recordedAt: UnixMillis;
}

/** Returns the detail of the row that closes a month, which an index finds at its beginning. */
export function detailOfClosing({ month, lastSeq, kept }: ClosedMonth): string {
  return JSON.stringify([month, lastSeq, kept]);
}

/** Reads the detail that `detailOfClosing` made. */
export function readClosing(detail: string): ClosedMonth {
  const [month, lastSeq, kept] = JSON.parse(detail) as readonly [Month, number, ClosedMonth["kept"]];
  return { month, lastSeq, kept };
}
