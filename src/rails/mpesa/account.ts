import { createPublicKey, hash, X509Certificate } from "node:crypto";

import * as z from "zod";

import { readBaseUrl } from "../../../runtime/transport/base-url.js";
import type { TransactionType } from "../../domain/transaction.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import { destinationsSetting, payableDestinations, paysBusinesses } from "../destinations.js";
import type { Capabilities } from "../rail.js";
import { railKind, type ReadSettings } from "../rail-kind.js";
import { MPESA_CAPABILITIES } from "./limits.js";
import { MPESA_RAIL, MpesaRail } from "./mpesa.js";
import { ownWordsSetting } from "./reconciliation/own-words.js";
import { STATEMENT } from "./reconciliation/statement.js";

/** Safaricom's addresses of Daraja. */
const BASE_URLS = {
  sandbox: "https://sandbox.safaricom.co.ke",
  production: "https://api.safaricom.co.ke",
} as const;

const TEXT_CHARACTERS_MAX = 500;
const CERTIFICATE_CHARACTERS_MAX = 20_000;
const SHILLING_CENTS = 100;

function text(problem = "must be a text of 1 to 500 characters", charactersMax = TEXT_CHARACTERS_MAX) {
  const given = z.string({ error: ({ input }) => (input === undefined ? "is missing" : problem) }).trim();
  return given.min(1, { error: problem, abort: true }).max(charactersMax, { error: problem, abort: true });
}

const SHORTCODE_PROBLEM = 'must be the digits of a shortcode in quotes, such as "174379"';
const shortcode = text(SHORTCODE_PROBLEM).regex(/^[0-9]{5,7}$/, SHORTCODE_PROBLEM);

const amount = text('must be an amount in quotes, such as "10.00"').transform((given, context): Cents => {
  const parsed = parseAmount(given);
  if (parsed.ok && parsed.value % SHILLING_CENTS === 0) return parsed.value;
  context.addIssue(parsed.ok ? "must be whole shillings" : parsed.problem);
  return z.NEVER;
});

const limit = z
  .strictObject({ min: amount, max: amount }, "must have min and max")
  .refine(({ min, max }) => min <= max, "must have a min that is not above max");

const CERTIFICATE_PROBLEM = "must be Safaricom's certificate in PEM, with an RSA key";
const certificate = text(CERTIFICATE_PROBLEM, CERTIFICATE_CHARACTERS_MAX).refine(isRsaCertificate, CERTIFICATE_PROBLEM);

const baseUrl = text().transform((given, context): string => {
  const read = readBaseUrl(given);
  if (read.ok) return read.url;
  context.addIssue(read.problem);
  return z.NEVER;
});

/** The settings of an account at M-Pesa. They hold no secret. */
const SETTINGS = z
  .strictObject({
    environment: z.enum(["sandbox", "production"], "must be sandbox or production").optional(),
    /** In place of an environment: a proxy, or the simulator. */
    baseUrl: baseUrl.optional(),
    collectShortcode: shortcode,
    payOutShortcode: shortcode,
    initiatorName: text(),
    certificatePem: certificate,
    /** Of the path that registers for deposits: that of the app's product at Safaricom. */
    c2bVersion: z.literal([1, 2], "must be 1 or 2").default(2),
    /** What M-Pesa does with a payment by hand while it cannot ask whether to take it. */
    whenUnreachable: z.enum(["Completed", "Cancelled"], "must be Completed or Cancelled").default("Completed"),
    destinations: destinationsSetting,
    statementWords: ownWordsSetting,
    limits: z.strictObject({ mint: limit.optional(), redeem: limit.optional(), business: limit.optional() }).optional(),
  })
  .refine((given) => (given.environment === undefined) !== (given.baseUrl === undefined), {
    error: "must be sandbox or production, or baseUrl in its place",
    path: ["environment"],
  })
  .refine(({ destinations, limits }) => !paysBusinesses(destinations) || limits?.business !== undefined, {
    error: "must have min and max for a till or a paybill: M-Pesa publishes no limits of these payments",
    path: ["limits", "business"],
  });

const CREDENTIALS = z.strictObject({
  consumerKey: text(),
  consumerSecret: text(),
  passkey: text(),
  initiatorPassword: text(),
});

type AccountSettings = z.output<typeof SETTINGS>;

export const MPESA = railKind({
  name: MPESA_RAIL,
  callsBack: true,
  returnsPayments: true,
  forbiddenInCallbackUrl: /mpesa|m-pesa|safaricom|exe|cmd|sql|query|ngrok/i,
  statement: STATEMENT,
  settings: SETTINGS,
  settingsFiles: { certificateFile: "certificatePem" },
  credentials: CREDENTIALS,
  refusals,
  read,
  open: ({ settings, credentials, accountUuid, callbackUrl, ...clocks }) => {
    const own = { baseUrl: baseUrlOf(settings), capabilities: capabilitiesOf(settings), accountUuid, callbackUrl };
    return new MpesaRail({ ...settings, ...credentials, ...own }, clocks);
  },
});

function refusals(
  settings: AccountSettings,
  { isSandbox, hosts }: { readonly isSandbox: boolean; readonly hosts: readonly string[] },
): string[] {
  const problems: string[] = [];
  // Otherwise test shillings would become KESC, or KESC of a test would be paid out.
  const wrongEnvironment = isSandbox ? "production" : "sandbox";
  if (settings.environment === wrongEnvironment) {
    const kind = isSandbox ? "A sandbox organization" : "A live organization";
    problems.push(`${kind} cannot use the environment ${wrongEnvironment} of M-Pesa.`);
  }
  // Otherwise somebody who can set accounts could send the credentials anywhere.
  if (!isSandbox && settings.baseUrl !== undefined && !isKnownAddress(settings.baseUrl, hosts)) {
    problems.push(`baseUrl must be ${BASE_URLS.production}, unless KESC_RAIL_HOSTS names its host.`);
  }
  return problems;
}

function read(settings: AccountSettings): ReadSettings {
  const { collectShortcode, payOutShortcode } = settings;
  const address = baseUrlOf(settings);
  return {
    places: [collectShortcode, payOutShortcode].map((shortcode) => `shortcode ${shortcode} at ${address}`),
    numbers: [...new Set([collectShortcode, payOutShortcode])],
    statementWords: settings.statementWords,
    facts: {
      base_url: address,
      collect_shortcode: collectShortcode,
      pay_out_shortcode: payOutShortcode,
      certificate_sha256: fingerprintOf(settings),
    },
  };
}

/** Returns the URL of Daraja, without a slash at its end. */
function baseUrlOf({ environment, baseUrl: given }: AccountSettings): string {
  return given ?? BASE_URLS[environment ?? "production"];
}

/** Whether a live account may be at the address: at Safaricom, or at one of these hosts. */
function isKnownAddress(baseUrl: string, hosts: readonly string[]): boolean {
  const { origin, host, hostname } = new URL(baseUrl);
  return origin === BASE_URLS.production || hosts.includes(host) || hosts.includes(hostname);
}

/** Returns the SHA-256 of a certificate as `openssl x509 -fingerprint -sha256` shows it. */
function fingerprintOf({ certificatePem: pem }: Pick<AccountSettings, "certificatePem">): string {
  // Node takes a bare public key in its place.
  const der = pem.includes("CERTIFICATE")
    ? new X509Certificate(pem).raw
    : createPublicKey(pem).export({ type: "spki", format: "der" });
  return hash("sha256", der, "hex")
    .toUpperCase()
    .replaceAll(/..(?=.)/g, "$&:");
}

/** Returns the payable amounts: M-Pesa's own, where the settings say nothing else. */
function capabilitiesOf({
  limits,
  destinations,
}: Pick<AccountSettings, "limits" | "destinations">): Readonly<Record<TransactionType, Capabilities>> {
  const within = (usual: Capabilities, given: z.output<typeof limit> | undefined): Capabilities =>
    given === undefined ? usual : { ...usual, minCents: given.min, maxCents: given.max };
  const redeem = within(MPESA_CAPABILITIES.REDEEM, limits?.redeem);
  const { phoneNumbers, ...phone } = redeem;
  const given = limits?.business;
  const business = given === undefined ? undefined : { ...phone, minCents: given.min, maxCents: given.max };
  return {
    MINT: within(MPESA_CAPABILITIES.MINT, limits?.mint),
    REDEEM: { ...phone, phoneNumbers, destinations: payableDestinations(destinations, { phone, business }) },
  };
}

/** Node also takes a private key, which must not get into the settings. */
function isRsaCertificate(pem: string): boolean {
  try {
    return !pem.includes("PRIVATE KEY") && createPublicKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
