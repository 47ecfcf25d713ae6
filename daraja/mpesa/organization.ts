/** Of the path that registers the URLs of C2B. It decides how a confirmation hides the phone. */
export type C2bVersion = 1 | 2;

/** What Safaricom knows of a business: its app, its shortcode, its initiator and its accounts. */
export interface Organization {
  readonly shortcode: string;
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
  /** Customers' payments come in here, and payouts go out. */
  utilityCents: number;
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
    chargesCents: 0,
    wrongPasswords: 0,
    ...differing,
  };
}
