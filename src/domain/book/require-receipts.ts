import type { Authorized } from "../authority.js";
import type { BookHead } from "../book.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Operation, replay } from "../decision.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Sets whether a mint on the direct rail needs a receipt. */
export interface RequireReceipts extends Authorized {
  readonly name: "requireReceipts";
  readonly isRequired: boolean;
  readonly note: StatusReason;
}

const operation: Operation<RequireReceipts, BookHead> = { lookup, decide };

/** To require them only takes power away. Without them, shillings can be credited twice. */
export const requireReceipts = withSecondPerson(operation, {
  groupOf: ({ isRequired }) => (isRequired ? undefined : "rails"),
  changesOf: ({ organizationId }, book) => {
    const since = String(book.bookOf(organizationId).receiptsRequiredSeq);
    return changes(["receipt of a direct mint", `required since row ${since}`, "not required"]);
  },
  // The row since which they are required is shown.
  touchedBy: NOTHING_TOUCHES,
});

/** The book of a command is loaded anyway. */
function lookup(): void {
  // It holds all that the decision reads.
}

/**
 * Sets whether a mint on the direct rail needs a receipt. Otherwise a caller's mint and a deposit
 * could credit the same shillings. What is so already is a replay.
 */
function decide(book: Book, command: RequireReceipts, now: UnixMillis): Decision<BookHead> {
  const head = book.bookOf(command.organizationId);
  const { isRequired, note: reason } = command;
  if ((head.receiptsRequiredSeq !== undefined) === isRequired) return replay(head);
  const kind = isRequired ? "organization.receipts_required" : "organization.receipts_optional";
  const seq = head.lastSeq + 1;
  return {
    kind: "effect",
    resource: { ...head, lastSeq: seq, lastRecordedAt: now, receiptsRequiredSeq: isRequired ? seq : undefined },
    effect: {
      entries: [bookEntryOf({ ...command, now }, { kind, reason })],
      puts: [],
      areReceiptsRequired: isRequired,
    },
  };
}
