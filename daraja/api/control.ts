import type { IncomingMessage } from "node:http";

import { INITIATOR_CERTIFICATE } from "../access/initiator-key.js";
import type { SimulatorClock } from "../clock.js";
import type { Mpesa, ReversalRefusal } from "../mpesa/mpesa.js";
import type { HandPayment, Order, Receipt, RefusedPayment } from "../mpesa/order.js";
import type { Organization } from "../mpesa/organization.js";
import type { HandPaymentEnd } from "./c2b.js";
import type { Callback } from "./callbacks.js";
import { MUST_OF_SHORTCODE, organizationOf, readHandPayment, refusalWords } from "./hand-payment.js";
import { jsonObjectOf } from "./request-body.js";
import type { RefusedRequest } from "./router.js";
import { changeSettings, settingsOf } from "./settings.js";
import { statementOf } from "./statement.js";

/** Everything that is not Daraja's begins with it. */
export const CONTROL_PATH = "/simulator";
/** Of each list: the newest. */
const LISTED_MAX = 200;

const ADVANCE_SECONDS_MAX = 30 * 86_400;
const SHILLING_CENTS = 100;

const REVERSAL_REFUSALS: Readonly<Record<ReversalRefusal, { status: number; words: string }>> = {
  UNKNOWN_RECEIPT: { status: 404, words: "is not that of a customer's payment" },
  REVERSED_ALREADY: { status: 409, words: "was reversed already" },
  INSUFFICIENT_FUNDS: { status: 409, words: "has more money than its account holds now" },
};

interface ControlOptions {
  readonly mpesa: Mpesa;
  readonly callbacks: readonly Callback[];
  readonly refusedRequests: readonly RefusedRequest[];
  readonly clock: SimulatorClock;
  /** A customer pays to the shortcode without a prompt. Resolves after the confirmation. */
  readonly pay: (payment: HandPayment) => Promise<HandPaymentEnd>;
}

export interface ControlAnswer {
  readonly status: number;
  /** An object is sent as JSON. */
  readonly body: object | string;
}

/** What a test asks of the simulator itself, in any language: docs/daraja.md. */
export class Control {
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, path: string): Promise<ControlAnswer> {
    switch (`${String(request.method)} ${path}`) {
      case `GET ${CONTROL_PATH}`:
        return { status: 200, body: this.#state() };
      case `GET ${CONTROL_PATH}/certificate`:
        return { status: 200, body: INITIATOR_CERTIFICATE };
      case `GET ${CONTROL_PATH}/statement`:
        return this.#statement();
      case `POST ${CONTROL_PATH}/settlements`:
        return withBody(request, (body) => this.#settle(body));
      case `POST ${CONTROL_PATH}/payments`:
        return withBody(request, (body) => this.#pay(body));
      case `POST ${CONTROL_PATH}/reversals`:
        return withBody(request, (body) => this.#reverse(body));
      case `POST ${CONTROL_PATH}/settings`:
        return withBody(request, (body) => this.#change(body));
      case `POST ${CONTROL_PATH}/clock`:
        return withBody(request, (body) => this.#advance(body));
      default:
        return { status: 404, body: { error: `${String(request.method)} ${path} is no call of the simulator` } };
    }
  }

  #state(): object {
    const { mpesa, callbacks, refusedRequests, clock } = this.#options;
    return {
      now: timeOf(clock.nowMillis()),
      organizations: mpesa.organizations.map(organizationJson),
      customers: newest(mpesa.subscribers).map(({ msisdn, balanceCents }) => ({
        phone_number: msisdn,
        balance: shillings(balanceCents),
      })),
      orders: newest(mpesa.orders).map(orderJson),
      receipts: newest(mpesa.receipts).map(receiptJson),
      refused_payments: newest(mpesa.refused).map(refusedJson),
      refused_requests: newest(refusedRequests).map(({ atMillis, path, status, ...refused }) => ({
        refused_at: timeOf(atMillis),
        path,
        status,
        code: refused.errorCode,
        message: refused.errorMessage,
        rule: refused.rule,
      })),
      callbacks: newest(callbacks).map(({ url, body, isForged, sentAtMillis, status = null }) => ({
        sent_at: timeOf(sentAtMillis),
        url,
        answered: status,
        is_forged: isForged,
        body,
      })),
    };
  }

  async #pay(body: Readonly<Record<string, unknown>>): Promise<ControlAnswer> {
    const payment = readHandPayment(body, this.#options.mpesa);
    if ("problem" in payment) return wrong(`${payment.problem.field} must ${payment.problem.must}`);
    const end = await this.#options.pay(payment);
    switch (end.kind) {
      case "paid":
        return { status: 201, body: receiptJson(end.receipt) };
      case "refused":
        return { status: 409, body: { error: refusalWords(end.payment), ...refusedJson(end.payment) } };
      case "forged":
        return { status: 200, body: { receipt: null, forged_receipt: end.payment.number } };
    }
  }

  #reverse({ receipt }: Readonly<Record<string, unknown>>): ControlAnswer {
    if (typeof receipt !== "string") return wrong("receipt must be a text: the receipt of a customer's payment");
    const reversal = this.#options.mpesa.reverse(receipt);
    if (typeof reversal === "object") return { status: 201, body: receiptJson(reversal) };
    const { status, words } = REVERSAL_REFUSALS[reversal];
    return { status, body: { error: `receipt ${receipt} ${words}` } };
  }

  /** Of the first organization. A process of the simulator has one. */
  #statement(): ControlAnswer {
    const { mpesa } = this.#options;
    const [organization] = mpesa.organizations;
    return organization === undefined
      ? wrong("the simulator has no organization")
      : { status: 200, body: statementOf(organization, mpesa.receipts) };
  }

  #settle({ shortcode, direction, amount }: Readonly<Record<string, unknown>>): ControlAnswer {
    const organization = organizationOf(shortcode, this.#options.mpesa);
    if (organization === undefined) return wrong(`shortcode must ${MUST_OF_SHORTCODE}`);
    if (direction !== "in" && direction !== "out") return wrong("direction must be in or out");
    const cents = typeof amount === "number" ? Math.round(amount * SHILLING_CENTS) : 0;
    if (!(cents > 0 && Number.isSafeInteger(cents))) return wrong("amount must be a number above 0");
    const receipt = this.#options.mpesa.settle(organization, direction === "in" ? "IN" : "OUT", cents);
    return receipt === "INSUFFICIENT_FUNDS"
      ? { status: 409, body: { error: "the account holds less" } }
      : { status: 201, body: receiptJson(receipt) };
  }

  #change({ shortcode, ...changes }: Readonly<Record<string, unknown>>): ControlAnswer {
    const organization = organizationOf(shortcode, this.#options.mpesa);
    if (organization === undefined) return wrong(`shortcode must ${MUST_OF_SHORTCODE}`);
    const problem = changeSettings(organization, changes);
    return problem === undefined ? { status: 200, body: organizationJson(organization) } : wrong(problem);
  }

  async #advance({ advance_seconds: seconds }: Readonly<Record<string, unknown>>): Promise<ControlAnswer> {
    if (typeof seconds !== "number" || !(seconds > 0 && seconds <= ADVANCE_SECONDS_MAX)) {
      return wrong("advance_seconds must be a number above 0, and at most 2592000: 30 days");
    }
    await this.#options.clock.advance(seconds * 1_000);
    return { status: 200, body: { now: timeOf(this.#options.clock.nowMillis()) } };
  }
}

/** The newest rows, newest first. */
export function newest<Row>(rows: readonly Row[]): Row[] {
  return rows.slice(-LISTED_MAX).reverse();
}

function organizationJson(organization: Organization): object {
  const { shortcode, storeNumber = null, workingCents, utilityCents, merchantCents, chargesCents } = organization;
  return {
    shortcode,
    store_number: storeNumber,
    working: shillings(workingCents),
    utility: shillings(utilityCents),
    merchant: shillings(merchantCents),
    charges: shillings(chargesCents),
    settings: settingsOf(organization),
  };
}

function orderJson(order: Order): object {
  const { direction, msisdn, amountCents, acceptedAtMillis, scenario, queries, outcome } = order;
  return {
    accepted_at: timeOf(acceptedAtMillis),
    product: direction === "IN" ? "stk_push" : "b2c",
    id: direction === "IN" ? order.checkoutRequestId : order.originatorConversationId,
    phone_number: msisdn,
    amount: shillings(amountCents),
    account_reference: direction === "IN" ? order.accountReference : null,
    scenario: scenario.words,
    queries,
    result_code: outcome?.code ?? null,
    receipt: outcome?.receipt?.number ?? null,
  };
}

function receiptJson({ number, direction, shortcode, msisdn, amountCents, feeCents, ...rest }: Receipt): object {
  return {
    receipt: number,
    moved_at: timeOf(rest.atMillis),
    direction: direction.toLowerCase(),
    shortcode,
    phone_number: msisdn,
    amount: shillings(amountCents),
    fee: shillings(feeCents),
    account_reference: rest.accountReference,
    validation: rest.validation ?? null,
    reversed_receipt: rest.reversedReceipt ?? null,
  };
}

function refusedJson({ number, organization, msisdn, amountCents, accountReference, ...rest }: RefusedPayment): object {
  return {
    transaction_id: number,
    refused_at: timeOf(rest.atMillis),
    shortcode: organization.shortcode,
    phone_number: msisdn,
    amount: shillings(amountCents),
    account_reference: accountReference,
    code: rest.code,
  };
}

async function withBody(
  request: IncomingMessage,
  answer: (body: Readonly<Record<string, unknown>>) => ControlAnswer | Promise<ControlAnswer>,
): Promise<ControlAnswer> {
  const body = await jsonObjectOf(request);
  return body === undefined ? wrong("the body must be a JSON object of at most 64 KiB") : answer(body);
}

function wrong(error: string): ControlAnswer {
  return { status: 400, body: { error } };
}

function timeOf(millis: number): string {
  return new Date(millis).toISOString();
}

function shillings(cents: number): number {
  return cents / SHILLING_CENTS;
}
