import type { BookState } from "../../domain/book.js";
import type { BookKind, JournalEntry } from "../../domain/journal.js";
import { bookEntryOf } from "../../domain/second-person.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { millisBehind, refuseFastClock } from "../../ledger/commit-batch.js";
import type { RowOf } from "../../model/column.js";
import type { BOOKS } from "../../model/organizations.js";
import type { Cell } from "../database.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Columns, Session, Write } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { journalRowOf } from "../sql/journal-rows.js";
import { RefusedWriteError } from "../sql/store-error.js";

const HEAD_COLUMNS = { number: "int64", last_seq: "int64", last_recorded_at: "int64" } as const satisfies Columns;

/** A book that no other transaction can change until this one ends. */
export interface LockedBook extends OpenBook {
  readonly isSuspended: boolean;
  /** The `seq` of the next row. */
  readonly nextSeq: number;
  /** The time of the next row: now, or the time of the last row if that is later. */
  readonly recordedAt: UnixMillis;
}

type LockedBookRow = Pick<
  RowOf<typeof BOOKS>,
  "number" | "state" | "suspended_seq" | "last_seq" | "last_recorded_at" | "clock_accepted_at"
> & { readonly begun_at: number | null };

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

/**
 * Locks the book of an organization.
 *
 * Rejects with a BookMovingError, with a ClockBehindError, or with a StoreError if this machine's
 * clock is ahead of the database's. `evenBehind` is for acts that must not wait for a clock: the
 * row then has the time of the newest one.
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
      SELECT number, state, suspended_seq, last_seq, last_recorded_at, clock_accepted_at, ${engine.begunAt} AS begun_at
      FROM ${engine.table("books")} WHERE number = ? ${engine.forUpdate}`,
    bindings: [open.number],
  })) as readonly [LockedBookRow];
  const state = row.state as BookState;
  if (state === "MOVING" || state === "MOVED") {
    throw new BookMovingError(organizationId);
  }
  refuseFastClock(now, row.begun_at === null ? undefined : toUnixMillis(row.begun_at));
  const behindMillis = evenBehind ? undefined : millisBehind(clockOf(row), now);
  if (behindMillis !== undefined) throw new ClockBehindError(organizationId, behindMillis);
  return {
    ...open,
    isSuspended: row.suspended_seq !== null,
    nextSeq: row.last_seq + 1,
    recordedAt: toUnixMillis(Math.max(now, row.last_recorded_at)),
  };
}

function clockOf({
  last_recorded_at: last,
  clock_accepted_at: accepted,
}: LockedBookRow): Parameters<typeof millisBehind>[0] {
  return {
    lastRecordedAt: toUnixMillis(last),
    ...(accepted === null ? {} : { clockAcceptedAt: toUnixMillis(accepted) }),
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
  { organizationId, number, salts, nextSeq: seq, recordedAt }: LockedBook,
  { created, ...row }: NewBookRow,
): readonly Write[] {
  const entry = bookEntry(organizationId, { ...row, recordedAt });
  const journalRow = journalRowOf(entry, { book: number, seq, previousSeq: null, salt: salts.of(seq), created });
  return [
    {
      sql: engine.update(engine.table("books"), { key: "number", columns: HEAD_COLUMNS }),
      rows: [{ number, last_seq: seq, last_recorded_at: recordedAt }],
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
