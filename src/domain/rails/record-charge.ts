import type { Commanded } from "../authority.js";
import { type BookHead, isWithinLimits, MAX_SUM_CENTS, postedToBook } from "../book.js";
import { chargePosting } from "../charge.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { JournalEntry } from "../journal.js";
import type { RailReceipt } from "../payment.js";
import { chargeReceiptOf } from "../receipt.js";
import { bookEntryOf } from "../second-person.js";
import type { Cents } from "../values/cents.js";
import type { UnixMillis } from "../values/time.js";

/** What a rail took for a movement (out), or gave back of that (in). */
export interface RecordCharge extends Commanded {
  readonly name: "recordCharge";
  /** The receipt of the movement. */
  readonly movement: RailReceipt;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
}

export const recordCharge: Operation<RecordCharge, BookHead> = { lookup, decide, inSuspension: "always" };

function lookup({ organizationId, movement }: RecordCharge, rows: Lookup): void {
  rows.need("receipt", { organizationId, name: chargeReceiptOf(movement) });
}

/**
 * Records what a rail took for a movement, or gave back of that. A book has the charges of a
 * movement once, so a repeat is a replay, also with another amount: reconciliation shows that.
 *
 * Refuses: LIMIT_EXCEEDED of the book.
 */
function decide(book: Book, command: RecordCharge, now: UnixMillis): Decision<BookHead> {
  const { organizationId, movement, direction, amountCents } = command;
  const head = book.bookOf(organizationId);
  const receipt = chargeReceiptOf(movement);
  if (book.receipt(organizationId, receipt) !== undefined) return replay(head);
  const posting = chargePosting(direction, amountCents);
  const sums = postedToBook(head.sums, posting);
  if (!isWithinLimits(sums))
    return refuse({ reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS });
  const entry: JournalEntry = {
    ...bookEntryOf({ ...command, now }, { kind: "charge.recorded", detail: `${direction} ${String(amountCents)}` }),
    posting,
    receipt,
  };
  const resource = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: now, sums };
  return { kind: "effect", resource, effect: { entries: [entry], puts: [] } };
}
