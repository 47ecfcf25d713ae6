import type { LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Destination } from "../destination.js";
import { balancesOf, type JournalEntry } from "../journal.js";
import type { Actor } from "../values/actor.js";
import type { AccountId, DestinationId } from "../values/ids.js";
import { NO_REASON } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export interface RemoveDestination extends Commanded {
  readonly name: "removeDestination";
  readonly accountId: AccountId;
  readonly destinationId: DestinationId;
}

export const removeDestination: Operation<RemoveDestination, Destination> = { lookup, decide };

function lookup({ accountId, destinationId }: RemoveDestination, rows: Lookup): void {
  rows.need("account", accountId);
  rows.need("destination", destinationId);
}

/**
 * Removes a destination for ever, and its number with it. A payout that was accepted before has the
 * number still, and goes on. A destination that is removed already is a replay.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, DESTINATION_NOT_FOUND.
 */
function decide(book: Book, command: RemoveDestination, now: UnixMillis): Decision<Destination> {
  const { organizationId, accountId, destinationId, actor } = command;
  const account = book.account(organizationId, accountId);
  if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const destination = book.destination(organizationId, destinationId);
  if (destination?.accountId !== accountId) return refuse({ reason: "DESTINATION_NOT_FOUND", destinationId });
  if (destination.removedAt !== undefined) return replay(destination);

  const removed = withoutNumber(destination, now);
  return {
    kind: "effect",
    resource: removed,
    effect: {
      entries: [removalEntry(removed, { account, actor, now })],
      puts: [
        { table: "accounts", row: { ...account, updatedAt: now } },
        { table: "destinations", row: removed },
      ],
    },
  };
}

export function withoutNumber(destination: Destination, now: UnixMillis): Destination {
  return { ...destination, number: undefined, railName: undefined, removedAt: now };
}

export function removalEntry(
  { id, organizationId, accountId }: Destination,
  { account, actor, now }: { account: LedgerAccount; actor: Actor; now: UnixMillis },
): JournalEntry {
  return {
    organizationId,
    accountId,
    transactionId: undefined,
    freezeId: undefined,
    kind: "destination.removed",
    posting: undefined,
    balancesAfter: balancesOf(account),
    detail: id,
    actor,
    reason: NO_REASON,
    recordedAt: now,
  };
}
