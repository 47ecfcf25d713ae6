import { createHash } from "node:crypto";

import type { Clock } from "../clock.js";
import type { Mpesa } from "../mpesa/mpesa.js";
import { stamp } from "../mpesa/nairobi-time.js";
import type { HandPayment, PayIn, Receipt, RefusedPayment } from "../mpesa/order.js";
import {
  type C2bVersion,
  isTill,
  maskedPhone,
  namedShortcodeOf,
  nextForm,
  type Organization,
  receivedCentsOf,
} from "../mpesa/organization.js";
import { type HandScenario, handScenarioOf, RESULT_AFTER_MILLIS } from "../mpesa/scenarios.js";
import type { CallbackAnswer, Callbacks } from "./callbacks.js";
import type { Answer, Call, Context } from "./context.js";
import { checkShortcode } from "./fields.js";
import { noProduct, Problem } from "./problem.js";

/** How long M-Pesa waits for the answer of a ValidationURL. */
const VALIDATION_MILLIS_MAX = 8_000;

interface C2bParts {
  readonly clock: Clock;
  readonly mpesa: Mpesa;
  readonly callbacks: Callbacks;
}

/** Where a business wants to be asked about payments, and told of them. */
interface Registration {
  readonly organization: Organization;
  readonly version: C2bVersion;
  readonly validationUrl: string;
  readonly confirmationUrl: string;
  /** What becomes of a payment that the ValidationURL says nothing about. */
  readonly responseType: "Completed" | "Cancelled";
}

/** What a business says of a payment that has not moved yet. */
type Verdict =
  | { readonly kind: "accepted"; readonly thirdPartyTransId: string }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "unreachable" };

/** What became of a payment by hand. */
export type HandPaymentEnd =
  | { readonly kind: "paid"; readonly receipt: Receipt }
  | { readonly kind: "refused"; readonly payment: RefusedPayment }
  | { readonly kind: "forged"; readonly payment: PayIn };

/** Customers' payments to a shortcode: asks its ValidationURL, and tells its ConfirmationURL. */
export class C2b {
  readonly #parts: C2bParts;
  /** By shortcode. */
  readonly #registrations = new Map<string, Registration>();

  constructor(parts: C2bParts) {
    this.#parts = parts;
  }

  /** POST /mpesa/c2b/v1/registerurl and v2. Once in production; in the sandbox again and again. */
  register(version: C2bVersion): (call: Call, context: Context) => Answer {
    return (call, context) => this.#register(version, call, context);
  }

  #register(version: C2bVersion, { organization, fields }: Call, { ids }: Context): Answer {
    if ((organization.c2bVersion ?? version) !== version) throw noProduct();
    const { shortcode } = organization;
    checkShortcode(organization, fields, "ShortCode");
    const responseType = fields.text("ResponseType", /^(Completed|Cancelled)$/);
    const confirmationUrl = fields.url("ConfirmationURL");
    const validationUrl = fields.url("ValidationURL");
    const isOver = organization.c2bRegistration === "once" && this.#registrations.has(shortcode);
    if (isOver) throw new Problem(500, "500.003.1001", "Urls are already registered.");
    this.#registrations.set(shortcode, {
      organization,
      version,
      validationUrl,
      confirmationUrl,
      responseType: responseType === "Completed" ? "Completed" : "Cancelled",
    });
    const form = nextForm(organization);
    const body = {
      OriginatorCoversationID: ids.originatorConversation(),
      ...(form === 2 ? {} : { ResponseCode: form === 1 ? "00000000" : "0" }),
      ResponseDescription: "Success",
    };
    return { body };
  }

  /**
   * POST /mpesa/c2b/v1/simulate and v2, which only the sandbox has: a customer pays without a
   * prompt, two seconds later.
   */
  simulate({ organization, fields }: Call, { clock, ids }: Context): Answer {
    const isBuyGoods = isTill(organization);
    checkShortcode(organization, fields, "ShortCode");
    fields.text("CommandID", isBuyGoods ? /^CustomerBuyGoodsOnline$/ : /^CustomerPayBillOnline$/);
    const amountCents = fields.amountCents();
    const msisdn = fields.msisdn("Msisdn");
    const accountReference = isBuyGoods
      ? fields.optionalText("BillRefNumber", /^.{0,20}$/)
      : fields.text("BillRefNumber", /^.{1,20}$/);
    clock.after(RESULT_AFTER_MILLIS, async () => {
      await this.pay({ organization, msisdn, amountCents, accountReference });
    });
    const body = {
      ConversationID: ids.conversation(clock.nowMillis()),
      OriginatorCoversationID: ids.originatorConversation(),
      ResponseCode: "0",
      ResponseDescription: "Accept the service request successfully.",
    };
    return { body };
  }

  /**
   * A customer pays without a prompt. Resolves after the confirmation, unless the scenario has that
   * come late.
   */
  async pay(payment: HandPayment): Promise<HandPaymentEnd> {
    const { clock, mpesa } = this.#parts;
    const payIn = mpesa.begin(payment);
    const scenario = handScenarioOf(payment.msisdn);
    if (scenario.isForged) return this.#forge(payIn);
    const verdict = await this.#askAbout(payIn);
    if (verdict?.kind === "refused") return { kind: "refused", payment: mpesa.refuse(payIn, verdict.code) };
    const thirdPartyTransId = verdict?.kind === "accepted" ? verdict.thirdPartyTransId : "";
    const receipt = mpesa.payIn({ ...payIn, thirdPartyTransId, validation: verdict?.kind, scenario });
    if (scenario.lateMillis === undefined) await this.#confirmAs(scenario, receipt);
    else clock.after(scenario.lateMillis, () => this.#confirmAs(scenario, receipt));
    return { kind: "paid", receipt };
  }

  /** Tells the ConfirmationURL of a payment. The callbacks of orders are sent besides. */
  async confirm(receipt: Receipt): Promise<void> {
    const registration = this.#registrations.get(receipt.shortcode);
    if (registration === undefined) return;
    await this.#parts.callbacks.send(registration.confirmationUrl, JSON.stringify(c2bBody(receipt, registration)));
  }

  async #confirmAs({ confirmation }: HandScenario, receipt: Receipt): Promise<void> {
    if (confirmation !== "never") await this.confirm(receipt);
    if (confirmation === "twice") await this.confirm(receipt);
  }

  /** Confirms a payment that M-Pesa does not know. */
  async #forge(payIn: PayIn): Promise<HandPaymentEnd> {
    const { organization, amountCents } = payIn;
    const registration = this.#registrations.get(organization.shortcode);
    if (registration !== undefined) {
      const balanceCents = receivedCentsOf(organization) + amountCents;
      const body = JSON.stringify(c2bBody({ ...payIn, balanceCents, thirdPartyTransId: "" }, registration));
      await this.#parts.callbacks.send(registration.confirmationUrl, body, { isForged: true });
    }
    return { kind: "forged", payment: payIn };
  }

  /** Asks the ValidationURL. Undefined if nobody is to be asked. */
  async #askAbout(payIn: PayIn): Promise<Verdict | undefined> {
    const { shortcode, isValidationActive } = payIn.organization;
    const registration = this.#registrations.get(shortcode);
    if (registration === undefined || !isValidationActive) return undefined;
    const { validationUrl, responseType } = registration;
    const body = c2bBody({ ...payIn, balanceCents: undefined, thirdPartyTransId: "" }, registration);
    const answer = await this.#parts.callbacks.ask(validationUrl, JSON.stringify(body), VALIDATION_MILLIS_MAX);
    const verdict = verdictOf(answer);
    const isCancelled = verdict.kind === "unreachable" && responseType === "Cancelled";
    return isCancelled ? { kind: "refused", code: "unreachable" } : verdict;
  }
}

interface C2bPayment {
  readonly number: string;
  readonly msisdn: string;
  readonly amountCents: number;
  readonly accountReference: string;
  readonly atMillis: number;
  /** Undefined before the payment has moved. */
  readonly balanceCents: number | undefined;
  readonly thirdPartyTransId: string;
}

/** The body of a validation and of a confirmation. All values are texts; the phone is hidden. */
function c2bBody(payment: C2bPayment, { organization, version }: Registration): object {
  const { msisdn, balanceCents, amountCents } = payment;
  const form = nextForm(organization);
  const hidden = version === 1 ? hashed(msisdn) : `${msisdn.slice(0, 4)} ***** ${msisdn.slice(-3)}`;
  return {
    TransactionType: isTill(organization) ? "Buy Goods" : "Pay Bill",
    TransID: payment.number,
    TransTime: stamp(payment.atMillis),
    TransAmount: form === 1 ? (amountCents / 100).toFixed(2) : String(amountCents / 100),
    BusinessShortCode: namedShortcodeOf(organization),
    BillRefNumber: payment.accountReference,
    InvoiceNumber: "",
    OrgAccountBalance: balanceCents === undefined ? "" : (balanceCents / 100).toFixed(2),
    ThirdPartyTransID: payment.thirdPartyTransId,
    ...(form === 2 ? {} : { MSISDN: form === 1 ? maskedPhone(msisdn) : hidden }),
    FirstName: "Jane",
    MiddleName: "",
    LastName: "Doe",
  };
}

/** Without a salt, as Safaricom does it. */
function hashed(msisdn: string): string {
  return createHash("sha256").update(msisdn).digest("hex");
}

/**
 * Reads the answer of a ValidationURL. The code 0 accepts, as a number or as a text, and any other
 * code refuses. No answer, another status than 200, and a body without a code are "unreachable".
 */
function verdictOf(answer: CallbackAnswer | undefined): Verdict {
  const body = answer?.status === 200 ? fieldsOf(answer.text) : {};
  const code = looseText(body["ResultCode"]);
  if (code === "") return { kind: "unreachable" };
  if (code !== "0") return { kind: "refused", code };
  return { kind: "accepted", thirdPartyTransId: looseText(body["ThirdPartyTransID"]) };
}

/** The fields of a JSON object; none for any other text. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text) as object));
  } catch {
    return {};
  }
}

function looseText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
