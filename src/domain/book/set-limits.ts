import type { Authorized } from "../authority.js";
import type { BookHead } from "../book.js";
import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import type { DecidingRow } from "../journal.js";
import {
  changedLimits,
  DEFAULT_TIER,
  isLooser,
  type LimitChanges,
  type Limits,
  limitsChanged,
  limitsFromText,
  limitsOfTier,
  limitsText,
  NO_LIMITS,
  NO_TIERS,
  type TierName,
  TIERS_MAX,
} from "../limits/limits.js";
import type { LimitsInForce } from "../limits/usage.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";

/** Sets limits of the organization, or of the accounts of one tier. */
export interface SetLimits extends Authorized {
  readonly name: "setLimits";
  /** Undefined for the limits of the organization. */
  readonly tier: TierName | undefined;
  /** Undefined removes the limits. Accounts of a removed tier have those of the default tier. */
  readonly changes: LimitChanges | undefined;
  readonly note: StatusReason;
}

const operation: Operation<SetLimits, BookHead> = { lookup, decide };

/** A second person is needed only where a limit rises or ends, for the organization or a tier. */
export const setLimits = withSecondPerson(operation, {
  groupOf: (command, book) => {
    const before = limitsOf(book.bookOf(command.organizationId));
    const after = withChanges(before, command);
    const tiers = new Set([DEFAULT_TIER, ...before.tiers.keys(), ...after.tiers.keys()]);
    const rises =
      isLooser(before.organization, after.organization) ||
      [...tiers].some((tier) => isLooser(limitsOfTier(before, tier), limitsOfTier(after, tier)));
    return rises ? "limits" : undefined;
  },
  changesOf: (command, book) => {
    const { tier, changes: asked } = command;
    const before = limitsOf(book.bookOf(command.organizationId));
    const after = withChanges(before, command);
    if (tier === undefined) return limitsChanged("organization", before.organization, after.organization, asked);
    return limitsChanged(`tier ${tier}`, limitsOfTier(before, tier), limitsOfTier(after, tier), asked);
  },
  touchedBy: {
    "limits.set": (row, { organizationId, tier }, book) =>
      haveDiffered([tier], limitsIn(row), limitsOf(book.bookOf(organizationId))),
  },
});

/** The book of a command is loaded anyway. */
function lookup(): void {
  // It holds all that the decision reads.
}

/**
 * Sets limits of the organization, or of the accounts of one tier. They hold from the next command
 * on, and transactions count from the first limits on. Limits that are so already are a replay.
 *
 * Refuses: TOO_MANY_TIERS.
 */
function decide(book: Book, command: SetLimits, now: UnixMillis): Decision<BookHead> {
  const head = book.bookOf(command.organizationId);
  const before = limitsOf(head);
  const after = withChanges(before, command);
  const content = limitsText(after);
  if (content === limitsText(before)) return replay(head);
  if (after.tiers.size > TIERS_MAX) return refuse({ reason: "TOO_MANY_TIERS", limit: TIERS_MAX });

  // What was accepted before the first limits never counts. No earlier row has the same time.
  const recordedAt = head.limits === undefined ? toUnixMillis(Math.max(now, head.lastRecordedAt + 1)) : now;
  const limits: LimitsInForce = { usage: undefined, since: recordedAt, ...head.limits, ...after };
  return {
    kind: "effect",
    resource: { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: recordedAt, limits },
    effect: {
      entries: [
        bookEntryOf(
          { ...command, now: recordedAt },
          { kind: "limits.set", reason: command.note, detail: JSON.stringify([command.authority.person, content]) },
        ),
      ],
      puts: [],
      limits,
    },
  };
}

/** Returns the limits after a row of the kind limits.set. */
export function limitsIn({ detail = "" }: DecidingRow): Limits {
  const [, content = ""] = JSON.parse(detail) as readonly string[];
  return limitsFromText(content);
}

/** Returns whether the limits of one of the tiers, or of the organization, were other ones. */
export function haveDiffered(tiers: readonly (TierName | undefined)[], then: Limits, now: Limits): boolean {
  return tiers.some((tier) => {
    const [before, after] = [then, now].map((limits) =>
      JSON.stringify(tier === undefined ? limits.organization : limitsOfTier(limits, tier)),
    );
    return before !== after;
  });
}

/** Returns the limits of a book: no limits until an operator has set the first ones. */
export function limitsOf({ limits }: Pick<BookHead, "limits">): Limits {
  return limits ?? NO_TIERS;
}

function withChanges({ organization, tiers }: Limits, { tier, changes }: Pick<SetLimits, "tier" | "changes">): Limits {
  if (tier === undefined) {
    return { organization: changes === undefined ? NO_LIMITS : changedLimits(organization, changes), tiers };
  }
  const changed = new Map<TierName, typeof organization>(tiers);
  if (changes === undefined) changed.delete(tier);
  else changed.set(tier, changedLimits(tiers.get(tier) ?? NO_LIMITS, changes));
  return { organization, tiers: changed };
}
