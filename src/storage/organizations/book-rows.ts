import type { BookHead } from "../../domain/book.js";
import type { BookKind, JournalEntry } from "../../domain/journal.js";
import { bookEntryOf } from "../../domain/second-person.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { millisBehind, refuseFastClock } from "../../ledger/commit-batch.js";
import type { Cell } from "../database.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Session, Write } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { journalRowOf } from "../sql/journal-rows.js";
import { isBookOld } from "../sql/ledger-statements.js";
import {
  BOOK_COLUMNS,
  bookHeadOf,
  bookRowOf,
  isBookAsWritten,
  type LoadedBookRow,
} from "../sql/records/book-head-rows.js";
import { RefusedWriteError } from "../sql/store-error.js";

/** A book that no other transaction can change until this one ends. */
export interface LockedBook extends OpenBook {
  readonly head: BookHead;
  readonly isSuspended: boolean;
  /** The `seq` of the next row. */
  readonly nextSeq: number;
  /** The time of the next row: now, or the time of the last row if that is later. */
  readonly recordedAt: UnixMillis;
}

/** The book is being moved to another cell, or has moved. Its last row is final. */
export class BookMovingError extends RefusedWriteError {
  constructor(organizationId: OrganizationId) {
    super(`The book of ${organizationId} is being moved to another cell, and takes no rows. Nothing was done.`);
    this.name = "BookMovingError";
  }
}

/** The clock is more than a minute behind the newest row of the book. Nothing was done. */
export class ClockBehindError extends RefusedWriteError {
  readonly behindMillis: number;

  constructor(organizationId: OrganizationId, behindMillis: number) {
    super(
      `The newest row of the book of ${organizationId} is ${String(Math.ceil(behindMillis / 1_000))} seconds ahead of the ` +
        "clock. Nothing was done. Set the clock right. If the row is wrong and the clock is right: kesc book accept-clock",
    );
    this.name = "ClockBehindError";
    this.behindMillis = behindMillis;
  }
}

/** Somebody has changed the row of the book past the service. Nothing was done. */
export class BookChangedError extends RefusedWriteError {
  constructor(organizationId: OrganizationId) {
    super(
      `The stored row of the book of ${organizationId} was changed past the service. Nothing was done. Run: kesc verify`,
    );
    this.name = "BookChangedError";
  }
}

/**
 * Locks the book of an organization.
 *
 * Rejects with a BookChangedError, a BookMovingError, a ClockBehindError, or with a StoreError if
 * this machine's clock is ahead of the database's. `evenBehind` is for acts that must not wait for
 * a clock: the row then has the time of the newest one.
 */
export async function lockBook(
  { engine, directory }: Pick<Cell, "engine" | "directory">,
  session: Session,
  {
    organizationId,
    now,
    evenBehind = false,
  }: { readonly organizationId: OrganizationId; readonly now: UnixMillis; readonly evenBehind?: boolean },
): Promise<LockedBook> {
  const open = await directory.book(organizationId, (read) => session.read(read));
  const [row] = (await session.read({
    sql: `
      SELECT b.*, ${engine.begunAt} AS begun_at, ${isBookOld(engine)} AS is_old
      FROM ${engine.table("books")} b WHERE b.number = ? ${engine.forUpdate}`,
    bindings: [open.number],
  })) as readonly [LoadedBookRow];
  if (!isBookAsWritten(row, open)) throw new BookChangedError(organizationId);
  const head = bookHeadOf(row);
  if (head.state === "MOVING" || head.state === "MOVED") {
    throw new BookMovingError(organizationId);
  }
  refuseFastClock(now, row.begun_at === null ? undefined : toUnixMillis(row.begun_at));
  const behindMillis = evenBehind ? undefined : millisBehind(head, now);
  if (behindMillis !== undefined) throw new ClockBehindError(organizationId, behindMillis);
  return {
    ...open,
    head,
    isSuspended: head.suspendedSeq !== undefined,
    nextSeq: head.lastSeq + 1,
    recordedAt: toUnixMillis(Math.max(now, head.lastRecordedAt)),
  };
}

/** An entry about the organization itself, and what its content hash covers. */
interface NewBookRow {
  readonly kind: BookKind;
  readonly reason?: StatusReason;
  readonly detail?: string;
  readonly created: readonly string[];
  /** The author of the row. The operator when omitted. */
  readonly actor?: Actor | undefined;
}

/** Returns the writes that append one row to a locked book. */
export function bookRowWrites(
  { engine }: Pick<Cell, "engine">,
  book: LockedBook,
  { created, ...row }: NewBookRow,
): readonly Write[] {
  const { organizationId, number, salts, nextSeq: seq, recordedAt } = book;
  const entry = bookEntry(organizationId, { ...row, recordedAt });
  const journalRow = journalRowOf(entry, { book: number, seq, previousSeq: null, salt: salts.of(seq), created });
  return [
    {
      sql: engine.update(engine.table("books"), { key: "number", columns: BOOK_COLUMNS }),
      rows: [bookRowOf({ ...book.head, lastSeq: seq, lastRecordedAt: recordedAt }, book)],
    },
    insertOf(engine, "journal", [journalRow]),
  ];
}

/** Returns an entry about the organization itself. The author is the operator when omitted. */
export function bookEntry(
  organizationId: OrganizationId,
  { actor = OPERATOR, recordedAt: now, ...given }: Omit<NewBookRow, "created"> & { readonly recordedAt: UnixMillis },
): JournalEntry {
  return bookEntryOf({ organizationId, actor, now }, given);
}
