import type { Commanded } from "../authority.js";
import {
  type Book,
  type Decision,
  type Lookup,
  type Operation,
  putIdempotencyKey,
  refuse,
  replay,
} from "../decision.js";
import {
  type Destination,
  type DestinationKind,
  type DestinationNumber,
  DESTINATIONS_MAX,
  maskNumber,
  type RailName,
} from "../destination.js";
import { balancesOf } from "../journal.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import type { AccountId, DestinationId } from "../values/ids.js";
import { type Description, type IdempotencyKey, NO_REASON } from "../values/text.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";

/** Adds a destination to the account. */
export interface CreateDestination extends Commanded {
  readonly name: "createDestination";
  readonly newDestinationId: DestinationId;
  readonly accountId: AccountId;
  readonly kind: DestinationKind;
  readonly number: DestinationNumber;
  readonly label: Description;
  /** What the rail calls the number, if the service has asked it. A repeat asks nothing. */
  readonly railName: RailName | undefined;
  /** Nothing is paid out to it before this time has passed. */
  readonly coolingMillis: number;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export const createDestination: Operation<CreateDestination, Destination> = { lookup, decide };

function lookup({ organizationId, accountId, idempotencyKey }: CreateDestination, rows: Lookup): void {
  rows.need("accountHolder", accountId);
  rows.need("destinationsOfAccount", accountId);
  if (idempotencyKey !== undefined) rows.need("idempotencyKeyOfDestination", { organizationId, name: idempotencyKey });
}

/**
 * Adds a destination to an account. Shillings can be paid out to it only after some time: a person
 * then has the time to see the event of a destination that nobody wanted. The same kind and number
 * on the account is a replay, whatever the label, as long as that destination is not removed. The
 * same idempotency key is one also after the removal: a late repeat must not bring it back.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_NOT_FOUND, ACCOUNT_ERASED,
 * ACCOUNT_CLOSED, TOO_MANY_DESTINATIONS.
 */
function decide(book: Book, command: CreateDestination, now: UnixMillis, clock: UnixMillis): Decision<Destination> {
  const { organizationId, accountId, kind, number, label, railName, idempotencyKey } = command;
  const repeated = decideRepeat(
    COMPARISON,
    { book, command, now },
    { withId: (id) => book.destination(organizationId, id as DestinationId) },
  );
  if (repeated !== undefined) return repeated;

  const account = book.account(organizationId, accountId);
  if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const destinations = book.destinations(organizationId, accountId);
  const existing = destinations.find((each) => each.kind === kind && each.number === number);
  if (existing !== undefined) return replay(existing, putIdempotencyKey(idempotencyKey, existing, now));
  if (book.accountHolder(organizationId, accountId)?.person === undefined) {
    return refuse({ reason: "ACCOUNT_ERASED", accountId });
  }
  if (account.status === "CLOSED") return refuse({ reason: "ACCOUNT_CLOSED", accountId });
  if (destinations.length >= DESTINATIONS_MAX) {
    return refuse({ reason: "TOO_MANY_DESTINATIONS", accountId, limit: DESTINATIONS_MAX });
  }

  const destination: Destination = {
    id: command.newDestinationId,
    organizationId,
    accountId,
    kind,
    label,
    number,
    maskedNumber: maskNumber(kind, number),
    railName,
    // The schema refuses an end before the row's own time.
    usableAt: toUnixMillis(Math.max(clock + command.coolingMillis, now)),
    createdAt: now,
    removedAt: undefined,
  };
  return {
    kind: "effect",
    resource: destination,
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "destination.created",
          posting: undefined,
          balancesAfter: balancesOf(account),
          detail: destination.id,
          actor: command.actor,
          reason: NO_REASON,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: { ...account, updatedAt: now } },
        { table: "destinations", row: destination },
        ...putIdempotencyKey(idempotencyKey, destination, now),
      ],
    },
  };
}

const COMPARISON: Comparison<CreateDestination, Destination> = {
  coolingMillis: "no content",
  railName: "no content",
  accountId: ["account_id", ({ accountId }, existing) => accountId === existing.accountId],
  kind: ["kind", ({ kind }, existing) => kind === existing.kind],
  label: ["label", ({ label }, existing) => label === existing.label],
  // The number of a removed destination is gone. Its masked form tells most others from it.
  number: [
    "number",
    ({ kind, number }, existing) =>
      existing.number === undefined ? maskNumber(kind, number) === existing.maskedNumber : number === existing.number,
  ],
};
