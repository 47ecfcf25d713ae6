import type { RailAccountId } from "./payment.js";
import type { Rail } from "./transaction.js";
import type { Cents } from "./values/cents.js";
import type { OrganizationId } from "./values/ids.js";
import type { Sealed } from "./values/sealed.js";
import type { UnixMillis } from "./values/time.js";

/** Whether payouts begin: always, never, or unless too many outcomes are unknown. */
export const PAYOUT_MODES = ["auto", "open", "closed"] as const;
export type PayoutMode = (typeof PAYOUT_MODES)[number];

/**
 * What can stand against an account at a rail:
 *
 * - `FLOAT_LOW`: less is available for payouts than the account's `floatMinCents`.
 * - `CREDENTIALS_EXPIRE`: its credentials end soon, or have ended.
 * - `INITIATOR_LOCKED`: the rail refuses every payout until a person has acted there.
 * - `CREDENTIALS_REFUSED`: the rail has refused a credential, which is not used until the account
 *   is set again.
 * - `REQUESTS_REFUSED`: the rail refuses a kind of request, whatever it is about.
 * - `PAYOUTS_HELD`: new payouts wait, for one of `HELD_REASONS`.
 */
export const WARNING_CODES = [
  "FLOAT_LOW",
  "CREDENTIALS_EXPIRE",
  "INITIATOR_LOCKED",
  "CREDENTIALS_REFUSED",
  "REQUESTS_REFUSED",
  "PAYOUTS_HELD",
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/**
 * Why payouts wait: a person or a lock has closed them, too many outcomes are unknown, the rail has
 * refused the credential that they need, or the ledger lets none begin for now.
 */
export const HELD_REASONS = [
  "PAYOUTS_CLOSED",
  "OUTCOMES_UNKNOWN",
  "CREDENTIALS_REFUSED",
  "ACCOUNT_FROZEN",
  "ORGANIZATION_SUSPENDED",
  "BOOK_RESTORED",
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** The refusals of `beginPayment` that last until a person acts. Payments have them as codes. */
export const BEGIN_HELD_REASONS = [
  "ACCOUNT_FROZEN",
  "ORGANIZATION_SUSPENDED",
  "BOOK_RESTORED",
] as const satisfies readonly HeldReason[];

/** The figures of a warning: amounts in cents, times in milliseconds. They hold no secret. */
export type WarningFigures = Readonly<Record<string, number | string>>;

/** The warnings that stand, with the figures of the row that raised each. */
export type StandingWarnings = Readonly<Partial<Record<WarningCode, WarningFigures>>>;

/** A credential that a rail can refuse: of the person who pays and asks, or of the program. */
export type RefusedCredential = "initiator" | "app";

/** Returns the credential that the rail has refused. Undefined if it has refused none. */
export function refusedCredentialOf({ warnings }: Pick<RailAccountRecord, "warnings">): RefusedCredential | undefined {
  return warnings.CREDENTIALS_REFUSED?.["credential"] as RefusedCredential | undefined;
}

/** Whether another credential was set since, which nobody has tried yet. */
export function isCredentialUntried({ warnings }: Pick<RailAccountRecord, "warnings">): boolean {
  return warnings.CREDENTIALS_REFUSED?.["is_set"] === 1;
}

/** An account of an organization at a rail, as its book has it. */
export interface RailAccountRecord {
  readonly id: RailAccountId;
  readonly organizationId: OrganizationId;
  readonly rail: Rail;
  /** A JSON object without secrets. Each rail has fields of its own. */
  readonly settings: string;
  /** Undefined if the rail needs none. */
  readonly credentials: Sealed | undefined;
  readonly credentialsExpireAt: UnixMillis | undefined;
  readonly payouts: PayoutMode;
  /** The words of the person who chose that. May be empty. */
  readonly payoutsReason: string;
  /** Whether the organization's calls that name no rail are for this account. */
  readonly isDefault: boolean;
  /** A mint that was not begun in this time fails with EXPIRED. */
  readonly beginWithinMillis: number;
  /** A success above this amount is booked only when a query has confirmed it. */
  readonly confirmAboveCents: Cents | 0;
  /** The highest amount that one person alone may resolve. */
  readonly resolveAloneMaxCents: Cents | 0;
  /** A warning is raised when less is available for payouts. Zero for no warning. */
  readonly floatMinCents: Cents | 0;
  /** How often the account was set or changed. A payment begins only under the newest revision. */
  readonly revision: number;
  /** The warnings that stand. They leave the revision and the time of the last change alone. */
  readonly warnings: StandingWarnings;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}

/** Returns what a journal row says of an account: everything but the credentials themselves. */
export function detailOfRailAccount(account: RailAccountRecord): string {
  const { credentials, credentialsExpireAt, beginWithinMillis, confirmAboveCents, resolveAloneMaxCents } = account;
  return JSON.stringify({
    id: account.id,
    organization_id: account.organizationId,
    rail: account.rail,
    settings: account.settings,
    credentials_expire_at: credentialsExpireAt ?? null,
    payouts: account.payouts,
    payouts_reason: account.payoutsReason,
    is_usual: account.isDefault ? 1 : 0,
    begin_within_millis: beginWithinMillis,
    confirm_above_cents: confirmAboveCents,
    resolve_alone_max_cents: resolveAloneMaxCents,
    float_min_cents: account.floatMinCents,
    revision: account.revision,
    credentials_sha256: credentials?.sha256 ?? null,
  });
}

/**
 * Returns the highest amount, in cents, for which one person is enough to correct the book: the
 * lowest that the accounts allow. Zero without an account.
 */
export function correctAloneMaxCents(accounts: readonly RailAccountRecord[]): number {
  return accounts.length === 0 ? 0 : Math.min(...accounts.map(({ resolveAloneMaxCents: cents }) => cents));
}
