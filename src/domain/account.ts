import type { Freeze } from "./freeze.js";
import type { TierName } from "./limits/limits.js";
import type { Usage } from "./limits/usage.js";
import type { Cents } from "./values/cents.js";
import type { DepositReference } from "./values/deposit-reference.js";
import type { EmailAddress } from "./values/email-address.js";
import type { AccountId, OrganizationId } from "./values/ids.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { StatusReason, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const ACCOUNT_STATUSES = ["ACTIVE", "FROZEN", "CLOSED"] as const;

/**
 * An account is FROZEN while at least one freeze stands. An ACTIVE account whose balances are zero
 * can become CLOSED, which is final.
 */
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/**
 * The status and the balances of an account. They summarize the account's rows in the journal. A
 * mint and a redemption read and write only this part.
 */
export interface LedgerAccount {
  readonly id: AccountId;
  readonly organizationId: OrganizationId;
  readonly status: AccountStatus;
  /**
   * The words of the unfreeze that made the account ACTIVE, or of its closing. Empty while the
   * account is FROZEN: its freezes have the notes.
   */
  readonly statusNote: StatusReason;
  /** The amount that the user can redeem. */
  readonly availableCents: Cents;
  /** The amount that is held for redemptions that are not complete yet. */
  readonly heldCents: Cents;
  /** The number of the account's payments on rails that have not ended. */
  readonly openPayments: number;
  /** The group of accounts whose limits hold. */
  readonly tier: TierName;
  /** The number that payers type to credit the account. Undefined if none was free. */
  readonly depositReference: DepositReference | undefined;
  /** What counts against the limits. Undefined until the first transaction counts. */
  readonly usage: Usage | undefined;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
  /**
   * The `seq` of the account's newest row in the journal. The ledger numbers the rows, so it sets
   * this after a decision.
   */
  readonly lastSeq: number;
}

/**
 * The personal data of the user who holds an account. It is stored apart from the balances, so that
 * an operator can erase it and keep the books.
 */
export interface AccountHolder {
  readonly accountId: AccountId;
  readonly organizationId: OrganizationId;
  /** Undefined after an erasure. */
  readonly person: Person | undefined;
  /** Whether the account is not closed. A user has at most one open account. */
  readonly isOpen: boolean;
  /** When the phone number was last changed. Undefined if it is that of the creation. */
  readonly phoneNumberChangedAt: UnixMillis | undefined;
  /** When the e-mail address was last changed. Undefined if it is that of the creation. */
  readonly emailChangedAt: UnixMillis | undefined;
}

export interface Person {
  /** The organization's name for the user. */
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
}

/** The KESC of one user of an organization. */
export interface Account extends LedgerAccount {
  /** Undefined after an erasure. */
  readonly person: Person | undefined;
  /** The freezes that stand, oldest first. */
  readonly freezes: readonly Freeze[];
}

/** An account, and the freeze that a command made or lifted. */
export interface AccountWithFreeze extends Account {
  readonly freeze: Freeze;
}

/** Returns the version of an account. Each row of the account in the journal makes a new one. */
export function etagOf({ lastSeq }: Pick<LedgerAccount, "lastSeq">): string {
  return String(lastSeq);
}

/** Joins the parts of an account. */
export function accountOf(account: LedgerAccount, { person }: AccountHolder, freezes: readonly Freeze[]): Account {
  return { ...account, person, freezes };
}
