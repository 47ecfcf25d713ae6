/** Of the path that registers the URLs of C2B. It decides how a confirmation hides the phone. */
export type C2bVersion = 1 | 2;

/** Products by the beginning of their paths. */
export const LACKED_PRODUCTS = [
  "/mpesa/stkpush",
  "/mpesa/b2c",
  "/mpesa/b2b",
  "/mpesa/accountbalance",
  "/mpesa/transactionstatus",
  "/mpesa/reversal",
  "/mpesa/c2b",
  "/mpesa/b2c/hakikisha",
  "/sfcverify",
  "/pulltransactions",
] as const;
export type LackedProduct = (typeof LACKED_PRODUCTS)[number];

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
  /** Where a callback may go by HTTP: the loopback alone, or any private address. */
  httpCallbacks: "loopback" | "private";
  /** Addresses of C2B are registered once, as in production, or again, as in the sandbox. */
  c2bRegistration: "once" | "again";
  /** A till's RecieverIdentifierType. Safaricom's page says 4, clients say 2. Undefined: both. */
  tillIdentifierType: 2 | 4 | undefined;
  /** A reversal's RecieverIdentifierType: 11, or undefined, which takes 4, too. */
  reversalIdentifierType: 11 | undefined;
  /** The suffix of the times in a list. The times are Nairobi's with either suffix. */
  pullTimes: "+03:00" | "Z";
  /** Whether B2C v3 takes a request without an OriginatorConversationID, and makes one. */
  b2cIds: "required" | "optional";
  /** What each status query ends with. Undefined: with what became of the order. */
  statusResult: "25" | "2032" | "2033" | undefined;
  /** The ResponseCode with which the name of a business is told. Safaricom's page has both. */
  orgInfoSuccess: "4000" | "0";
  /** What uses an OriginatorConversationID up. Safaricom does not say. */
  idsUsedBy: "acceptance" | "request" | "payment";
  /** Whether messages have one form, or those that production was seen to send, in turn. */
  messageForms: "one" | "alternating";
  /** How many messages with alternating forms were sent. */
  messages: number;
  /** Money that came from the bank and has not been moved to the utility account. */
  workingCents: number;
  /** Payouts go out of here, and what customers pay to a paybill comes in. */
  utilityCents: number;
  /** What customers pay to a till comes in here. */
  merchantCents: number;
  /** Fees are taken from here, so that it is below zero. */
  chargesCents: number;
  /** How the paths of a product begin that Safaricom has not given the app. None when undefined. */
  lacksProduct: LackedProduct | undefined;
  /** Whether the initiator lacks the role for what it asks: each result is 21. */
  lacksInitiatorRole: boolean;
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
    httpCallbacks: "loopback",
    c2bRegistration: "once",
    tillIdentifierType: undefined,
    reversalIdentifierType: 11,
    pullTimes: "+03:00",
    b2cIds: "required",
    statusResult: undefined,
    orgInfoSuccess: "4000",
    idsUsedBy: "acceptance",
    messageForms: "one",
    messages: 0,
    workingCents: 70_000_000,
    utilityCents: 100_000_000,
    merchantCents: 0,
    chargesCents: 0,
    lacksProduct: undefined,
    lacksInitiatorRole: false,
    wrongPasswords: 0,
    ...differing,
  };
}

export type MessageForm = 0 | 1 | 2;

/**
 * Which form the next message has: 0 is the documented one. Production was seen to send others:
 * amounts with cents (1), phones masked (1) or left out (2), success by another code or none.
 */
export function nextForm(organization: Organization): MessageForm {
  if (organization.messageForms === "one") return 0;
  organization.messages += 1;
  return (organization.messages % 3) as MessageForm;
}

/** Such as 25470****049. */
export function maskedPhone(msisdn: string): string {
  return `${msisdn.slice(0, 5)}****${msisdn.slice(-3)}`;
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
