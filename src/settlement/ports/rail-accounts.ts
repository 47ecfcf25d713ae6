import type { DestinationKind, RailName } from "../../domain/destination.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { PayoutMode, RefusedCredential } from "../../domain/rail-account.js";
import type { Rail } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { NamedParty, PaymentRail } from "../../rails/rail.js";

/** An organization's account at a rail, ready for use. */
export interface RailAccount {
  readonly id: RailAccountId;
  readonly organizationId: OrganizationId;
  readonly rail: PaymentRail;
  readonly payouts: PayoutMode;
  /** A mint that was not begun in this time fails with EXPIRED. */
  readonly beginWithinMillis: number;
  /** A success above this amount is booked only when a query has confirmed it. */
  readonly confirmAboveCents: Cents | 0;
  /** The highest amount that one operator alone may resolve. */
  readonly resolveAloneMaxCents: Cents | 0;
  /** How often the account was set or changed. A payment begins only under the newest revision. */
  readonly revision: number;
  /** When that was last: what the rail refused before says nothing of the account as it is. */
  readonly changedAt: UnixMillis;
  /** The credential that the rail has refused. It is not used until another one has worked. */
  readonly refused: RefusedCredential | undefined;
  /** Whether another one was set since: one question for the balance tries it. */
  readonly isUntried: boolean;
}

/** Which rail an organization uses if a request names none. */
export interface DefaultRails {
  /**
   * `direct` unless the operator has set another one. Also says so while that one cannot be used: a
   * mint that meant it must not be taken for a direct one, which credits at once.
   */
  defaultRail(organizationId: OrganizationId): Rail;
}

/**
 * Closes the payouts of an account until an operator opens them. `code` is the one with which the
 * rail refuses each.
 */
export type ClosePayouts = (account: RailAccount, code: string) => Promise<void>;

/** The accounts as the settlement uses them. */
export interface SettledAccounts extends Pick<RailAccounts, "account"> {
  /** Reads the accounts again if one has changed. Never rejects. */
  refresh(): Promise<void>;
}

/** Every account at a rail that can be used. */
export interface UsableAccounts {
  all(): readonly RailAccount[];
}

/**
 * The accounts that the organizations of one cell have at rails. They are in memory, and read again
 * every two seconds: a setting takes effect without a restart.
 */
export interface RailAccounts {
  /** Undefined if there is none, or if its credentials cannot be read. */
  account(id: RailAccountId): RailAccount | undefined;
  /**
   * The account of the organization at the named rail; without a name, at the rail that is its
   * default one. Undefined if there is none. For most organizations the default rail is `direct`,
   * which is no rail account. So it throws a StoreError if the default one cannot be used.
   */
  accountOf(organizationId: OrganizationId, rail: Rail | undefined): RailAccount | undefined;
  /** All accounts of the organization that can be used. */
  accountsOf(organizationId: OrganizationId): readonly RailAccount[];
}

/** What rails call the numbers of new destinations. */
export interface NamesAtRails {
  /** Whether a rail of the organization may tell the name of such a number now. */
  tells(organizationId: OrganizationId, kind: DestinationKind): boolean;
  /**
   * Resolves after `millisMax`, and 5 seconds, at the latest. Undefined if the rail tells no name
   * or does not answer in time, and if too many questions wait. Never rejects.
   */
  nameOf(organizationId: OrganizationId, party: NamedParty, millisMax: number): Promise<RailName | undefined>;
}
