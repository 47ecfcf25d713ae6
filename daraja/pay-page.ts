import type { IncomingMessage } from "node:http";

import type { HandPaymentEnd } from "./api/c2b.js";
import { type HandPaymentField, readHandPayment, refusalWords } from "./api/hand-payment.js";
import { formOf } from "./api/request-body.js";
import { documentOf, escaped } from "./html.js";
import type { Mpesa } from "./mpesa/mpesa.js";
import type { HandPayment } from "./mpesa/order.js";
import { isTill, type Organization } from "./mpesa/organization.js";

export const PAY_PATH = "/pay";

type Form = Readonly<Record<string, string>>;

const LABELS: Readonly<Record<HandPaymentField, string>> = {
  phone_number: "Phone number",
  amount: "Amount",
  account_reference: "Account number",
  shortcode: "Shortcode",
};

/** An answer with a page, or one that leads the browser to another path. */
export type PageAnswer =
  { readonly status: number; readonly html: string } | { readonly status: 303; readonly location: string };

/**
 * The form that pays by hand. It has a path of its own, because the page at / loads itself again
 * every two seconds: a form on it would be empty again before somebody has filled it in.
 */
export class PayPage {
  readonly #mpesa: Mpesa;
  readonly #pay: (payment: HandPayment) => Promise<HandPaymentEnd>;

  constructor(mpesa: Mpesa, pay: (payment: HandPayment) => Promise<HandPaymentEnd>) {
    this.#mpesa = mpesa;
    this.#pay = pay;
  }

  show(): PageAnswer {
    return { status: 200, html: this.#formWith({}) };
  }

  /** Pays, and leads back to /. Shows the form again, with its values, if nothing was paid. */
  async submit(request: IncomingMessage): Promise<PageAnswer> {
    const form = await formOf(request);
    if (form === undefined) return { status: 400, html: this.#formWith({}, "The form must be at most 64 KiB.") };
    const payment = readHandPayment({ ...form, amount: shillingsOf(form["amount"]) }, this.#mpesa);
    if ("problem" in payment) {
      const { field, must } = payment.problem;
      return { status: 400, html: this.#formWith(form, `${LABELS[field]} must ${must}.`) };
    }
    const end = await this.#pay(payment);
    if (end.kind === "refused") return { status: 409, html: this.#formWith(form, `${refusalWords(end.payment)}.`) };
    return { status: 303, location: "/" };
  }

  #formWith(form: Form, problem?: string): string {
    const options = this.#mpesa.organizations.map((one) => optionOf(one, form["shortcode"]));
    return documentOf({
      body: `<h1>Pay this paybill by hand</h1>
<p>As a customer does at the phone's menu. The last two digits of the phone number choose what happens.</p>
${problem === undefined ? "" : `<p role="alert"><strong>${escaped(problem)}</strong></p>`}
<form method="post" action="${PAY_PATH}">
${input("phone_number", form, 'inputmode="numeric" placeholder="254712345678"')}
${input("amount", form, 'inputmode="numeric" placeholder="whole shillings"')}
${input("account_reference", form)}
<label>${LABELS.shortcode}<select name="shortcode">${options.join("")}</select></label>
<button>Pay</button>
</form>
<p><a href="/">Back without a payment</a></p>`,
    });
  }
}

function input(field: HandPaymentField, form: Form, attributes = ""): string {
  return `<label>${LABELS[field]}<input name="${field}" value="${escaped(form[field] ?? "")}" ${attributes}></label>`;
}

function optionOf(organization: Organization, chosen: string | undefined): string {
  const shortcode = escaped(organization.shortcode);
  const selected = organization.shortcode === chosen ? " selected" : "";
  return `<option value="${shortcode}"${selected}>${shortcode}${isTill(organization) ? " (till)" : ""}</option>`;
}

/** Undefined for a text that is no whole number. */
function shillingsOf(text = ""): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
