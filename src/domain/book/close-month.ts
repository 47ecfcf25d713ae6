import type { Authorized } from "../authority.js";
import { type ClosedMonth, type Closing, detailOfClosing } from "../closing.js";
import { type Book, type Decision, type Lookup, type Operation, replay } from "../decision.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Closes a month of a book. */
export interface CloseMonth extends Authorized {
  readonly name: "closeMonth";
  /** The caller has compared the statements, and has made the manifest of the pack. */
  readonly closed: ClosedMonth;
  readonly note: StatusReason;
}

const operation: Operation<CloseMonth, Closing> = { lookup, decide };

/** It moves no money, and gives nobody power. */
export const closeMonth = byOnePerson<CloseMonth, Closing>(operation);

function lookup({ organizationId, closed }: CloseMonth, rows: Lookup): void {
  rows.need("closedMonth", { organizationId, name: closed.month });
}

/** Closes a month. One that is closed already is a replay: its first pack stays. */
function decide(book: Book, command: CloseMonth, now: UnixMillis): Decision<Closing> {
  const { organizationId, closed, note: reason } = command;
  const first = book.closedMonth(organizationId, closed.month);
  if (first !== undefined) return replay(first);
  const seq = book.bookOf(organizationId).lastSeq + 1;
  const entry = bookEntryOf({ ...command, now }, { kind: "month.closed", reason, detail: detailOfClosing(closed) });
  const resource: Closing = { ...closed, organizationId, seq, recordedAt: now };
  return { kind: "effect", resource, effect: { entries: [entry], puts: [] } };
}
