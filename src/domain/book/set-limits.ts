import type { BookHead } from "../book.js";
import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import {
  changedLimits,
  DEFAULT_TIER,
  isLooser,
  type LimitChanges,
  type Limits,
  limitsChanged,
  limitsOfTier,
  limitsText,
  NO_LIMITS,
  NO_TIERS,
  type TierName,
  TIERS_MAX,
} from "../limits/limits.js";
import type { LimitsInForce } from "../limits/usage.js";
import { type Authorized, bookEntryOf, withSecondPerson } from "../second-person.js";
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
  groupOf: (head, command) => {
    const before = limitsOf(head);
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

function limitsOf({ limits }: BookHead): Limits {
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
