import type { Cents } from "./values/cents.js";
import type { EmailAddress } from "./values/email-address.js";
import type { AccountId, OrganizationId } from "./values/ids.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { StatusReason, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const ACCOUNT_STATUSES = ["ACTIVE", "FROZEN", "CLOSED"] as const;

/**
 * ACTIVE and FROZEN change into each other; ACTIVE becomes CLOSED at a balance of zero; CLOSED is
 * final.
 */
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** The KESC of one user of an organization: the summary of the account's rows in the journal. */
export interface Account {
  readonly id: AccountId;
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
  readonly status: AccountStatus;
  readonly statusReason: StatusReason;
  /** What the user may redeem. */
  readonly availableCents: Cents;
  /** What is set aside for redemptions on their way. */
  readonly heldCents: Cents;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}
