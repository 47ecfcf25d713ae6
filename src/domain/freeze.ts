import type { Actor } from "./values/actor.js";
import type { AccountId, FreezeId, OrganizationId } from "./values/ids.js";
import type { StatusReason } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const FREEZE_REASONS = ["COURT_ORDER", "SANCTIONS", "FRAUD", "CUSTOMER_REQUEST", "OTHER"] as const;

export type FreezeReason = (typeof FREEZE_REASONS)[number];

/**
 * The maximum number of standing freezes of one account. It bounds the size of an account's
 * message, and the rows that a change of the account loads.
 */
export const STANDING_FREEZES_MAX = 20;

/** One freeze of an account. It stands until it is lifted. */
export interface Freeze {
  readonly id: FreezeId;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly reason: FreezeReason;
  /** The caller's words. They may be empty. */
  readonly note: StatusReason;
  readonly createdBy: Actor;
  readonly createdAt: UnixMillis;
  /** Undefined while the freeze stands. */
  readonly lifted: Lift | undefined;
}

/** The end of a freeze. */
export interface Lift {
  readonly by: Actor;
  readonly at: UnixMillis;
  /** The caller's words. They may be empty. */
  readonly note: StatusReason;
}
