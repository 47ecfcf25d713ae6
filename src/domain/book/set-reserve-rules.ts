import type { Authorized } from "../authority.js";
import type { BookHead } from "../book.js";
import { changes, inWords } from "../change.js";
import { EACH } from "../deciding-rows.js";
import { type Book, type Decision, type Operation, replay } from "../decision.js";
import { RESERVE_KINDS, type ReserveKind, type ReserveRule, rulesFromText, rulesText, ruleText } from "../reserve.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Sets the rules of the reserve, in place of all earlier ones. */
export interface SetReserveRules extends Authorized {
  readonly name: "setReserveRules";
  readonly rules: readonly ReserveRule[];
  readonly note: StatusReason;
}

const operation: Operation<SetReserveRules, BookHead> = { lookup, decide };

export const setReserveRules = withSecondPerson(operation, {
  groupOf: () => "reserve",
  changesOf: ({ organizationId, rules }, book) => {
    const before = rulesFromText(book.bookOf(organizationId).reserveRules ?? rulesText([]));
    const of = (all: readonly ReserveRule[], kind: ReserveKind): string =>
      all.flatMap((rule) => (rule.kind === kind ? [ruleText(rule)] : [])).join("; ");
    return changes(...RESERVE_KINDS.map((kind) => [inWords(kind), of(before, kind), of(rules, kind)] as const));
  },
  touchedBy: { "reserve.rules_set": EACH },
});

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
