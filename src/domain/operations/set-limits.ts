import type { BookHead } from "../book.js";
import type { SetLimits } from "../commands.js";
import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import { changedLimits, type Limits, limitsText, NO_LIMITS, type TierName, TIERS_MAX } from "../limits/limits.js";
import type { LimitsInForce } from "../limits/usage.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";

export const setLimits: Operation<SetLimits, BookHead> = { lookup, decide };

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
  const { organizationId, person, actor, reason } = command;
  const head = book.bookOf(organizationId);
  const before: Limits = head.limits ?? { organization: NO_LIMITS, tiers: new Map() };
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
        {
          organizationId,
          accountId: undefined,
          transactionId: undefined,
          freezeId: undefined,
          kind: "limits.set",
          posting: undefined,
          balancesAfter: undefined,
          detail: JSON.stringify([person, content]),
          actor,
          reason,
          recordedAt,
        },
      ],
      puts: [],
      limits,
    },
  };
}

function withChanges({ organization, tiers }: Limits, { tier, changes }: SetLimits): Limits {
  if (tier === undefined) {
    return { organization: changes === undefined ? NO_LIMITS : changedLimits(organization, changes), tiers };
  }
  const changed = new Map<TierName, typeof organization>(tiers);
  if (changes === undefined) changed.delete(tier);
  else changed.set(tier, changedLimits(tiers.get(tier) ?? NO_LIMITS, changes));
  return { organization, tiers: changed };
}
