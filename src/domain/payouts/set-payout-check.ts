import { type Authorized, LETS_GO } from "../authority.js";
import type { BookHead } from "../book.js";
import { type Change, changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, replay } from "../decision.js";
import { type CheckRules, detailOfCheck, type PayoutCheck } from "../payout-check.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Sets the check of the organization's payouts, in place of an earlier one. */
export interface SetPayoutCheck extends Authorized, CheckRules {
  readonly name: "setPayoutCheck";
  /** Whether the check gets another secret although all else stays. A change always brings one. */
  readonly newSecret: boolean;
  readonly note: StatusReason;
}

/** Ends the check of the organization's payouts. */
export interface ClearPayoutCheck extends Authorized {
  readonly name: "clearPayoutCheck";
  readonly note: StatusReason;
}

/**
 * One person may change the deadline of a check, and make silence mean "hold". Anything else can
 * let payouts go, and a new url learns numbers. So does a first check: payouts may still wait for
 * one that was cleared. A secret that the service does not know yet brings no answer.
 */
export const setPayoutCheck = withSecondPerson<SetPayoutCheck, PayoutCheck>(
  { lookup, decide: decideSet },
  {
    groupOf: ({ organizationId, url, noAnswer }, book) => {
      const before = book.payoutCheck(organizationId);
      if (before === undefined) return "payouts";
      return before.url === url && noAnswer === "HOLD" ? undefined : LETS_GO;
    },
    changesOf: (command, book) => changesFrom(book.payoutCheck(command.organizationId), command),
    // The row that has set the check is shown.
    touchedBy: NOTHING_TOUCHES,
  },
);

export const clearPayoutCheck = withSecondPerson<ClearPayoutCheck, BookHead>(
  { lookup, decide: decideClear } satisfies Operation<ClearPayoutCheck, BookHead>,
  {
    groupOf: () => LETS_GO,
    changesOf: ({ organizationId }, book) => changesFrom(book.payoutCheck(organizationId), undefined),
    touchedBy: NOTHING_TOUCHES,
  },
);

function lookup({ organizationId }: SetPayoutCheck | ClearPayoutCheck, rows: Lookup): void {
  rows.need("payoutCheck", organizationId);
}

function changesFrom(before: PayoutCheck | undefined, after: CheckRules | undefined): readonly Change[] {
  const each = (what: string, text: (rules: CheckRules) => string) =>
    [what, before && text(before), after && text(after)] as const;
  return changes(
    each("service that is asked before each payout", ({ url }) => url),
    each("time for an answer", ({ deadlineSeconds }) => `${String(deadlineSeconds)} seconds`),
    each("without an answer", ({ noAnswer }) => noAnswer.toLowerCase()),
    ["set by row", before && String(before.seq), after && "a new one, with a new secret"],
  );
}

/** Sets the check. What is so already is a replay, unless a new secret is asked for. */
function decideSet(book: Book, command: SetPayoutCheck, now: UnixMillis): Decision<PayoutCheck> {
  const { organizationId, url, deadlineSeconds, noAnswer, newSecret, note: reason } = command;
  const before = book.payoutCheck(organizationId);
  const rules: CheckRules = { url, deadlineSeconds, noAnswer };
  const detail = detailOfCheck(rules);
  if (before !== undefined && !newSecret && detailOfCheck(before) === detail) return replay(before);
  const entry = bookEntryOf({ ...command, now }, { kind: "payouts.check_set", reason, detail });
  const seq = book.bookOf(organizationId).lastSeq + 1;
  const resource = { ...rules, organizationId, seq, recordedAt: now };
  return { kind: "effect", resource, effect: { entries: [entry], puts: [] } };
}

/**
 * Ends the check. What waits for it is held for persons. Without a check this is a replay.
 */
function decideClear(book: Book, command: ClearPayoutCheck, now: UnixMillis): Decision<BookHead> {
  const { organizationId, note: reason } = command;
  const head = book.bookOf(organizationId);
  if (book.payoutCheck(organizationId) === undefined) return replay(head);
  const entry = bookEntryOf({ ...command, now }, { kind: "payouts.check_cleared", reason });
  const resource: BookHead = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: now };
  return { kind: "effect", resource, effect: { entries: [entry], puts: [] } };
}
