import type { BookAccount } from "./journal.js";
import type { OrganizationId } from "./values/ids.js";
import type { UnixMillis } from "./values/time.js";

/**
 * - OPEN: the book takes commands.
 * - MOVING: the book is being copied to another cell, so its last row is final.
 * - MOVED: another cell has the book.
 * - RESTORED: the book comes from a backup. It takes commands, but no payment on a rail begins.
 */
export type BookState = "OPEN" | "MOVING" | "MOVED" | "RESTORED";

/** The sums of an organization's book accounts, in cents. `reserve` may be negative. */
export type BookSums = Readonly<Record<BookAccount, number>>;

/** The last state of an organization's book. */
export interface BookHead {
  readonly organizationId: OrganizationId;
  readonly state: BookState;
  /** The `seq` of the last journal row. The rows have the numbers 1, 2, 3 … without gaps. */
  readonly lastSeq: number;
  /** The time of the last journal row. The next row is never earlier. */
  readonly lastRecordedAt: UnixMillis;
  readonly sums: BookSums;
}

/** The highest sum of a book account in cents. A JavaScript number holds every sum exactly. */
export const MAX_SUM_CENTS = Number.MAX_SAFE_INTEGER;

const ASSETS: ReadonlySet<BookAccount> = new Set(["reserve", "shortfall"]);

/** Returns the sums after a posting. A debit adds to an asset, a credit adds to a liability. */
export function postedToBook(
  sums: BookSums,
  { debit, credit, amountCents }: { debit: BookAccount; credit: BookAccount; amountCents: number },
): BookSums {
  return {
    ...sums,
    [debit]: sums[debit] + (ASSETS.has(debit) ? amountCents : -amountCents),
    [credit]: sums[credit] + (ASSETS.has(credit) ? -amountCents : amountCents),
  };
}
