import type { Authorized } from "../authority.js";
import type { BookHead } from "../book.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Operation, replay } from "../decision.js";
import { bookEntryOf, byOnePerson, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Refuses the calls of an organization that write. */
export interface SuspendOrganization extends Authorized {
  readonly name: "suspendOrganization";
  readonly note: StatusReason;
}

/** Ends the suspension of an organization. */
export interface ResumeOrganization extends Authorized {
  readonly name: "resumeOrganization";
  readonly note: StatusReason;
}

type Suspension = SuspendOrganization | ResumeOrganization;

const operation: Operation<Suspension, BookHead> = { lookup, decide, isForAnyClock: true };

/** To suspend never needs a second person: it only takes power away, and must be quick. */
export const suspendOrganization = byOnePerson<SuspendOrganization, BookHead>(operation);
export const resumeOrganization = withSecondPerson<ResumeOrganization, BookHead>(operation, {
  groupOf: () => "resume",
  // A later suspension has another row, and perhaps another cause.
  changesOf: ({ organizationId }, book) =>
    changes(["calls", `refused since row ${String(book.bookOf(organizationId).suspendedSeq)}`, "allowed"]),
  touchedBy: NOTHING_TOUCHES,
});

/** The book of a command is loaded anyway. */
function lookup(): void {
  // It holds all that the decision reads.
}

/** Suspends or resumes an organization. What is so already is a replay. */
function decide(book: Book, command: Suspension, now: UnixMillis): Decision<BookHead> {
  const head = book.bookOf(command.organizationId);
  const isSuspended = command.name === "suspendOrganization";
  if ((head.suspendedSeq !== undefined) === isSuspended) return replay(head);
  const kind = isSuspended ? "organization.suspended" : "organization.resumed";
  const seq = head.lastSeq + 1;
  return {
    kind: "effect",
    resource: { ...head, lastSeq: seq, lastRecordedAt: now, suspendedSeq: isSuspended ? seq : undefined },
    effect: { entries: [bookEntryOf({ ...command, now }, { kind, reason: command.note })], puts: [], isSuspended },
  };
}
