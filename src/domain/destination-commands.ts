import type { DestinationKind, DestinationNumber } from "./destination.js";
import type { Commanded } from "./second-person.js";
import type { AccountId, DestinationId } from "./values/ids.js";
import type { Description, IdempotencyKey } from "./values/text.js";

export type DestinationCommand = CreateDestination | RemoveDestination;

/** Adds a destination to the account. */
export interface CreateDestination extends Commanded {
  readonly name: "createDestination";
  readonly newDestinationId: DestinationId;
  readonly accountId: AccountId;
  readonly kind: DestinationKind;
  readonly number: DestinationNumber;
  readonly label: Description;
  /** Nothing is paid out to it before this time has passed. */
  readonly coolingMillis: number;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export interface RemoveDestination extends Commanded {
  readonly name: "removeDestination";
  readonly accountId: AccountId;
  readonly destinationId: DestinationId;
}
