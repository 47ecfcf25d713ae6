import type { BookHead } from "../book.js";
import { type Book, type Decision, type Operation, replay } from "../decision.js";
import { rulesText } from "../reserve.js";
import type { SetReserveRules } from "../reserve-commands.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { UnixMillis } from "../values/time.js";

const operation: Operation<SetReserveRules, BookHead> = { lookup, decide };

export const setReserveRules = withSecondPerson(operation, () => "reserve");

/** The book of a command is loaded anyway. */
function lookup(): void {
  // It holds all that the decision reads.
}

/** Sets the rules of the reserve, in place of all earlier ones. The same rules are a replay. */
function decide(book: Book, command: SetReserveRules, now: UnixMillis): Decision<BookHead> {
  const head = book.bookOf(command.organizationId);
  const reserveRules = rulesText(command.rules);
  if (reserveRules === (head.reserveRules ?? rulesText([]))) return replay(head);
  const entry = bookEntryOf(
    { ...command, now },
    { kind: "reserve.rules_set", reason: command.note, detail: reserveRules },
  );
  return {
    kind: "effect",
    resource: { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: now, reserveRules },
    effect: { entries: [entry], puts: [], reserveRules },
  };
}
