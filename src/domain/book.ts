import { BOOK_ACCOUNTS, type BookAccount, OF_USERS, type Posting } from "./journal.js";
import type { LimitsInForce } from "./limits/usage.js";
import type { OrganizationId } from "./values/ids.js";
import type { UnixMillis } from "./values/time.js";

/**
 * - OPEN: the book takes commands.
 * - MOVING: the book is being copied to another cell, so its last row is final.
 * - MOVED: another cell has the book.
 * - RESTORED: the book comes from a backup. It takes commands, but no payment on a rail begins.
 */
export const BOOK_STATES = ["OPEN", "MOVING", "MOVED", "RESTORED"] as const;
export type BookState = (typeof BOOK_STATES)[number];

/**
 * A step of the move of a book:
 *
 * - LEAVING: the book is MOVING. Its last row is final, and its rows may be exported.
 * - LEFT: the book is MOVED. Only the other place may open it.
 * - EMPTYING, EMPTIED: its rows are being removed, or are removed, from this cell.
 * - COPYING: an import stores the rows of the book.
 * - COPIED: the import is complete and verified. The book waits for its activation.
 */
export const MOVE_PHASES = ["LEAVING", "LEFT", "EMPTYING", "EMPTIED", "COPYING", "COPIED"] as const;
export type MovePhase = (typeof MOVE_PHASES)[number];

/** The sums of an organization's book accounts, in cents. MAY_BE_NEGATIVE says which may be. */
export type BookSums = Readonly<Record<BookAccount, number>>;

/** The last state of an organization's book. */
export interface BookHead {
  readonly organizationId: OrganizationId;
  readonly state: BookState;
  /**
   * The `seq` of the row that suspended the organization: its book takes only commands of operators
   * and rails. Undefined if it is not suspended.
   */
  readonly suspendedSeq: number | undefined;
  /**
   * The `seq` of the row since which a mint on the direct rail needs a receipt. Undefined if it
   * needs none.
   */
  readonly receiptsRequiredSeq: number | undefined;
  /** The `seq` of the last journal row. The rows have the numbers 1, 2, 3 … without gaps. */
  readonly lastSeq: number;
  /** The time of the last journal row. The next row is never earlier. */
  readonly lastRecordedAt: UnixMillis;
  /** The time of a newest row that an operator has accepted, although a wrong clock wrote it. */
  readonly clockAcceptedAt?: UnixMillis;
  readonly sums: BookSums;
  /** Undefined until the operator sets the first limits. Until then nothing counts. */
  readonly limits: LimitsInForce | undefined;
  /** The rules of the reserve (`rulesText`). Absent until the operator sets the first ones. */
  readonly reserveRules?: string | undefined;
  /** The list of payouts that are held (`payoutListText`). Absent until there is a first one. */
  readonly payoutList?: string | undefined;
}

/** The highest sum of a book account in cents. A JavaScript number holds every sum exactly. */
export const MAX_SUM_CENTS = Number.MAX_SAFE_INTEGER;

export const NO_SUMS: BookSums = { reserve: 0, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: 0 };

/**
 * All KESC that entered and left circulation since the beginning of a book, in cents. Both only
 * grow, so a number would not hold them exactly for ever. Minted minus redeemed is in circulation.
 */
export interface Turnover {
  readonly minted: bigint;
  readonly redeemed: bigint;
}

export const NO_TURNOVER: Turnover = { minted: 0n, redeemed: 0n };

/** Returns an object with a value for each book account. */
export function ofEachAccount<Value>(valueOf: (account: BookAccount) => Value): Record<BookAccount, Value> {
  return Object.fromEntries(BOOK_ACCOUNTS.map((account) => [account, valueOf(account)])) as Record<BookAccount, Value>;
}

/** Whether no sum exceeds its limit. */
export function isWithinLimits(sums: BookSums): boolean {
  return Object.values(sums).every((sum) => sum <= MAX_SUM_CENTS) && sums.charges >= -MAX_SUM_CENTS;
}

/** Returns the sums after a posting. A debit adds to an asset, a credit adds to a liability. */
export function postedToBook(sums: BookSums, posting: Posting): BookSums {
  const { debit, credit, amountCents } = posting;
  const debited = (account: BookAccount): number =>
    (account === debit ? amountCents : 0) - (account === credit ? amountCents : 0);
  return {
    reserve: sums.reserve + debited("reserve"),
    shortfall: sums.shortfall + debited("shortfall"),
    charges: sums.charges + debited("charges"),
    available: sums.available - debited("available"),
    held: sums.held - debited("held"),
    unallocated: sums.unallocated - debited("unallocated"),
  };
}

/**
 * Returns the turnover after a sum of postings with the same accounts. KESC enters circulation if
 * only the credit belongs to users, and leaves it if only the debit does. A hold does neither.
 */
export function turnedOver(
  { minted, redeemed }: Turnover,
  { debit, credit }: Pick<Posting, "debit" | "credit">,
  cents: bigint,
): Turnover {
  const [isOut, isIn] = [OF_USERS.has(debit), OF_USERS.has(credit)];
  return {
    minted: minted + (isIn && !isOut ? cents : 0n),
    redeemed: redeemed + (isOut && !isIn ? cents : 0n),
  };
}
