import { type Authorized, LETS_GO } from "../authority.js";
import type { BookHead } from "../book.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { LISTED_KINDS, type PayoutList, payoutListFromText, payoutListText } from "../payout-list.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Sets the list of those to whom payouts are held. The caller has stored its entries. */
export interface SetPayoutList extends Authorized, PayoutList {
  readonly name: "setPayoutList";
  /** The text of the list that it was compared with, and that it replaces. Empty for the first. */
  readonly replaces: string;
  /** The number of entries of that list which are not in the new one. */
  readonly ended: number;
  readonly note: StatusReason;
}

const operation: Operation<SetPayoutList, BookHead> = { lookup, decide };

/** A list that only grows holds more, so it needs no second person. */
export const setPayoutList = withSecondPerson(operation, {
  groupOf: ({ ended }) => (ended === 0 ? undefined : LETS_GO),
  changesOf: ({ hash, counts, replaces, ended }) => {
    // Entries of it end, so there is one, and it stands: `decide` refuses any other.
    const before = payoutListFromText(replaces);
    return changes(
      ["list of payouts that are held", before.hash, hash],
      ...LISTED_KINDS.map((kind) => [`${kind}s`, String(before.counts[kind]), String(counts[kind])] as const),
      ["entries that end", "", String(ended)],
    );
  },
  // A list that was set since is refused: the text of each has its time.
  touchedBy: NOTHING_TOUCHES,
});

/** Later commands of the batch look into the list. */
function lookup({ organizationId, hash }: SetPayoutList, rows: Lookup): void {
  rows.need("payoutList", { organizationId, name: hash });
}

/**
 * Sets the list, in place of the former one. It holds from the next command on, and nothing that
 * was accepted before. A list with the same entries is a replay. Refuses PAYOUT_LIST_CHANGED.
 */
function decide(book: Book, command: SetPayoutList, now: UnixMillis): Decision<BookHead> {
  const { organizationId, actor, hash, counts, replaces } = command;
  const head = book.bookOf(organizationId);
  const before = head.payoutList ?? "";
  if (before !== "" && payoutListFromText(before).hash === hash) return replay(head);
  if (before !== replaces) return refuse({ reason: "PAYOUT_LIST_CHANGED" });
  const payoutList = payoutListText({ hash, counts, by: actor, since: now });
  const entry = bookEntryOf(
    { ...command, now },
    { kind: "payouts.list_set", reason: command.note, detail: payoutList },
  );
  return {
    kind: "effect",
    resource: { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: now, payoutList },
    effect: { entries: [entry], puts: [], payoutList },
  };
}
