import type { Mpesa } from "../mpesa/mpesa.js";
import type { HandPayment, RefusedPayment } from "../mpesa/order.js";
import { isTill, type Organization } from "../mpesa/organization.js";
import { VALIDATION_REFUSALS } from "../mpesa/results.js";

const SHILLINGS_MAX = 1_000_000;
const SHILLING_CENTS = 100;
/** Of a BillRefNumber, as M-Pesa limits what a payer types. */
const ACCOUNT_REFERENCE_CHARACTERS_MAX = 20;
export const MUST_OF_SHORTCODE = "be one of the simulator's";

export type HandPaymentField = "phone_number" | "amount" | "account_reference" | "shortcode";

interface FieldProblem {
  readonly field: HandPaymentField;
  /** What follows "must" in the error. */
  readonly must: string;
}

type ReadHandPayment = HandPayment | { readonly problem: FieldProblem };

/** Reads a payment without a prompt. The problem names the first field that is wrong. */
export function readHandPayment(fields: Readonly<Record<string, unknown>>, mpesa: Mpesa): ReadHandPayment {
  const { phone_number: phone, amount, account_reference: accountReference = "", shortcode } = fields;
  const msisdn = typeof phone === "number" ? String(phone) : phone;
  if (typeof msisdn !== "string" || !/^254[17]\d{8}$/.test(msisdn)) {
    return wrong("phone_number", "be 2547 or 2541 and eight digits");
  }
  if (typeof amount !== "number" || !Number.isInteger(amount) || amount < 1 || amount > SHILLINGS_MAX) {
    return wrong("amount", "be whole shillings from 1 to 1000000");
  }
  if (typeof accountReference !== "string") return wrong("account_reference", "be a text");
  if (accountReference.length > ACCOUNT_REFERENCE_CHARACTERS_MAX) {
    return wrong("account_reference", "have at most 20 characters, as M-Pesa's BillRefNumber");
  }
  const organization = organizationOf(shortcode, mpesa);
  if (organization === undefined) return wrong("shortcode", MUST_OF_SHORTCODE);
  if (isTill(organization) && accountReference !== "") {
    return wrong("account_reference", "be empty: a till has no accounts");
  }
  return { organization, msisdn, amountCents: amount * SHILLING_CENTS, accountReference };
}

function wrong(field: HandPaymentField, must: string): { problem: FieldProblem } {
  return { problem: { field, must } };
}

/** Such as "The ValidationURL refused the payment: C2B00012, Invalid Account Number". */
export function refusalWords({ code }: RefusedPayment): string {
  if (code === "unreachable") return "The ValidationURL did not answer, and its ResponseType is Cancelled";
  return `The ValidationURL refused the payment: ${code}, ${VALIDATION_REFUSALS[code] ?? "not a code of Safaricom's"}`;
}

/** The organization with this shortcode; by default the first. */
export function organizationOf(shortcode: unknown, { organizations }: Mpesa): Organization | undefined {
  return shortcode === undefined ? organizations[0] : organizations.find((one) => one.shortcode === shortcode);
}
