import type { Cents } from "./values/cents.js";
import type { EmailAddress } from "./values/email-address.js";
import type { AccountId, OrganizationId } from "./values/ids.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { StatusReason, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const ACCOUNT_STATUSES = ["ACTIVE", "FROZEN", "CLOSED"] as const;

/**
 * The status changes from ACTIVE to FROZEN and back. An ACTIVE account whose balances are zero can
 * become CLOSED, which is final.
 */
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** The KESC of one user of an organization. It summarizes the account's rows in the journal. */
export interface Account {
  readonly id: AccountId;
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
  readonly status: AccountStatus;
  readonly statusReason: StatusReason;
  /** The amount that the user can redeem. */
  readonly availableCents: Cents;
  /** The amount that is held for redemptions that are not complete yet. */
  readonly heldCents: Cents;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}
