import type { Commanded } from "./second-person.js";
import type { AccountId } from "./values/ids.js";
import type { StatusReason } from "./values/text.js";

/** Why an operator looks at the phone number and the e-mail address of a user. */
export const REVEAL_REASONS = ["customer_called", "payment_delivery", "fraud_check", "legal_request", "other"] as const;

export type RevealReason = (typeof REVEAL_REASONS)[number];

/**
 * How often one person in an hour may see personal data, or find an account by it, in all books of
 * a cell.
 */
export const REVEALS_MAX = 60;

export const REVEALS_MILLIS = 3_600_000;

/**
 * Lets an operator see the personal data of an account. Without such a reason, the operator has
 * found the account by its phone number or e-mail address, or exports all of it.
 */
export interface RevealAccount extends Commanded {
  readonly name: "revealAccount";
  readonly accountId: AccountId;
  readonly reason: RevealReason | "look_up" | "export";
  readonly note: StatusReason;
}
