/** Of the path that registers the URLs of C2B. It decides how a confirmation hides the phone. */
export type C2bVersion = 1 | 2;

/** What Safaricom knows of a business: its app, its shortcode, its initiator and its accounts. */
export interface Organization {
  /** Whom a customer pays: a paybill, or a till. */
  readonly shortcode: string;
  /** Only a till has one. The APIs know the till by it. */
  readonly storeNumber: string | undefined;
  /** Which of its two numbers the messages about a till name. Safaricom does not say. */
  confirmsAs: "till" | "store";
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** Signs STK pushes. */
  readonly passkey: string;
  readonly initiatorName: string;
  readonly initiatorPassword: string;
  /** An account that would hold more refuses a payment with code 8. */
  readonly utilityCentsMax: number;
  /** The version of C2B that the app has. Undefined takes both. */
  c2bVersion: C2bVersion | undefined;
  /** Whether the ValidationURL is asked. Safaricom switches it on by request. */
  isValidationActive: boolean;
  /** Whether Safaricom has set Pull Transactions up. Without it, each list is empty. */
  isPullProvisioned: boolean;
  /** What the OffSetValue of a list counts. Safaricom's texts differ. */
  pullOffset: "rows" | "pages";
  /** How long after a payment a list shows it. */
  pullLagMillis: number;
  /** Money that came from the bank and has not been moved to the utility account. */
  workingCents: number;
  /** Payouts go out of here, and what customers pay to a paybill comes in. */
  utilityCents: number;
  /** What customers pay to a till comes in here. */
  merchantCents: number;
  /** Fees are taken from here, so that it is below zero. */
  chargesCents: number;
  /** Wrong passwords in a row. At INITIATOR_TRIES_MAX the initiator is locked. */
  wrongPasswords: number;
}

/** The number is a guess: Safaricom publishes none. */
export const INITIATOR_TRIES_MAX = 3;

/** The organization that the simulator has. Its shortcode is that of Safaricom's sandbox. */
export function newOrganization(differing: Partial<Organization> = {}): Organization {
  return {
    shortcode: "174379",
    storeNumber: undefined,
    confirmsAs: "till",
    consumerKey: "simulated-consumer-key",
    consumerSecret: "simulated-consumer-secret",
    passkey: "simulated-passkey",
    initiatorName: "testapi",
    initiatorPassword: "Simulated-Password-1",
    utilityCentsMax: 100_000_000_000,
    c2bVersion: undefined,
    isValidationActive: false,
    isPullProvisioned: true,
    pullOffset: "rows",
    pullLagMillis: 0,
    workingCents: 70_000_000,
    utilityCents: 100_000_000,
    merchantCents: 0,
    chargesCents: 0,
    wrongPasswords: 0,
    ...differing,
  };
}

export function isTill({ storeNumber }: Organization): boolean {
  return storeNumber !== undefined;
}

/** The number by which the APIs know the organization. */
export function apiShortcodeOf({ shortcode, storeNumber }: Organization): string {
  return storeNumber ?? shortcode;
}

/** The number that confirmations and results name. */
export function namedShortcodeOf(organization: Organization): string {
  return organization.confirmsAs === "store" ? apiShortcodeOf(organization) : organization.shortcode;
}

/** What the account holds that customers' payments come into. */
export function receivedCentsOf(organization: Organization): number {
  return isTill(organization) ? organization.merchantCents : organization.utilityCents;
}
