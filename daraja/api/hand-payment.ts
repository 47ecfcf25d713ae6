import type { Mpesa } from "../mpesa/mpesa.js";
import type { HandPayment } from "../mpesa/order.js";
import type { Organization } from "../mpesa/organization.js";

const SHILLINGS_MAX = 1_000_000;
const SHILLING_CENTS = 100;
/** Of a BillRefNumber, as M-Pesa limits what a payer types. */
const ACCOUNT_REFERENCE_CHARACTERS_MAX = 20;

export const WRONG_SHORTCODE = "shortcode must be one of the simulator's";

type ReadHandPayment = HandPayment | { readonly problem: string };

/** Reads a payment without a prompt. The problem names the first field that is wrong. */
export function readHandPayment(fields: Readonly<Record<string, unknown>>, mpesa: Mpesa): ReadHandPayment {
  const { phone_number: msisdn, amount, account_reference: accountReference = "", shortcode } = fields;
  if (typeof msisdn !== "string" || !/^254[17]\d{8}$/.test(msisdn)) {
    return { problem: "phone_number must be a text: 2547 or 2541 and eight digits" };
  }
  if (typeof amount !== "number" || !Number.isInteger(amount) || amount < 1 || amount > SHILLINGS_MAX) {
    return { problem: "amount must be whole shillings from 1 to 1000000" };
  }
  if (typeof accountReference !== "string") return { problem: "account_reference must be a text" };
  if (accountReference.length > ACCOUNT_REFERENCE_CHARACTERS_MAX) {
    return { problem: "account_reference must have at most 20 characters, as M-Pesa's BillRefNumber" };
  }
  const organization = organizationOf(shortcode, mpesa);
  if (organization === undefined) return { problem: WRONG_SHORTCODE };
  return { organization, msisdn, amountCents: amount * SHILLING_CENTS, accountReference };
}

/** The organization with this shortcode; by default the first. */
export function organizationOf(shortcode: unknown, { organizations }: Mpesa): Organization | undefined {
  return shortcode === undefined ? organizations[0] : organizations.find((one) => one.shortcode === shortcode);
}
