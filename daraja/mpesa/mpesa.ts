import { keep, KEPT_MAX } from "../kept.js";
import type { Ids } from "./ids.js";
import { nairobi } from "./nairobi-time.js";
import type { Collection, HandPayment, Order, Outcome, PayIn, Payout, Receipt, RefusedPayment } from "./order.js";
import { apiShortcodeOf, isTill, type Organization, receivedCentsOf } from "./organization.js";
import type { ResultCode } from "./results.js";

const AMOUNT_CENTS_MAX = 25_000_000;
const PAYOUT_CENTS_MIN = 1_000;
const DAY_CENTS_MAX = 50_000_000;
const SUBSCRIBER_CENTS_MAX = 50_000_000;
const SAME_AMOUNT_MILLIS = 120_000;
/** One fee for every payout; the real one depends on the amount. */
const PAYOUT_FEE_CENTS = 2_240;

export interface Subscriber {
  readonly msisdn: string;
  balanceCents: number;
  readonly receipts: Receipt[];
}

interface Payment {
  readonly organization: Organization;
  readonly msisdn: string;
  readonly amountCents: number;
  readonly accountReference: string;
  readonly thirdPartyTransId: string;
  /** Undefined where the payment gets its number when it moves. */
  readonly number?: string;
  readonly order?: Order;
  readonly validation?: Receipt["validation"];
  readonly scenario?: Receipt["scenario"];
  readonly reversedReceipt?: string;
}

export type ReversalRefusal = "UNKNOWN_RECEIPT" | "REVERSED_ALREADY" | "INSUFFICIENT_FUNDS";

interface Settings {
  readonly ids: Ids;
  readonly nowMillis: () => number;
  /** What each subscriber has at first. */
  readonly subscriberCents: number;
  readonly organizations: readonly Organization[];
}

/**
 * The truth: which orders M-Pesa accepted, and which money moved. Knows limits and balances, and
 * nothing of HTTP. Each receipt is money that moved once.
 */
export class Mpesa {
  readonly organizations: readonly Organization[];
  readonly orders: Order[] = [];
  readonly receipts: Receipt[] = [];
  /** Payments that a ValidationURL stopped. */
  readonly refused: RefusedPayment[] = [];
  /** The numbers whose names an app with the product has asked for. */
  readonly named: string[] = [];
  /** The OriginatorConversationIDs of requests that were refused. */
  readonly refusedIds: { readonly id: string; readonly atMillis: number }[] = [];
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.organizations = settings.organizations;
  }

  get subscribers(): readonly Subscriber[] {
    return [...this.#subscribers.values()];
  }

  subscriber(msisdn: string): Subscriber {
    const known = this.#subscribers.get(msisdn);
    if (known !== undefined) return known;
    const subscriber = { msisdn, balanceCents: this.#settings.subscriberCents, receipts: [] };
    this.#subscribers.set(msisdn, subscriber);
    const [oldest] = this.#subscribers.keys();
    if (this.#subscribers.size > KEPT_MAX && oldest !== undefined) this.#subscribers.delete(oldest);
    return subscriber;
  }

  /** Moves the money of an order, unless a limit or a balance forbids it. */
  pay(order: Order): Outcome {
    if (order.outcome?.receipt !== undefined) throw new Error("the simulator would pay an order twice");
    const refusal = order.direction === "IN" ? this.#refusesCollection(order) : this.#refusesPayout(order);
    if (refusal !== undefined) return this.fail(order, refusal);
    const receipt = order.direction === "IN" ? this.#collect(order) : this.#payOut(order);
    order.outcome = {
      code: "0",
      status: "Completed",
      atMillis: receipt.atMillis,
      transactionId: receipt.number,
      receipt,
    };
    return order.outcome;
  }

  fail(order: Order, code: ResultCode, status: "Declined" | "Expired" = "Declined"): Outcome {
    const atMillis = this.#settings.nowMillis();
    const transactionId = this.#settings.ids.receipt(atMillis);
    order.outcome = { code, status, atMillis, transactionId, receipt: undefined };
    return order.outcome;
  }

  /** Gives a payment its number. No money moves. */
  begin(payment: HandPayment): PayIn {
    const atMillis = this.#settings.nowMillis();
    const number = this.#settings.ids.receipt(atMillis);
    return { ...payment, accountReference: referenceOf(payment), number, atMillis };
  }

  /** Remembers a payment that does not move. */
  refuse(payIn: PayIn, code: string): RefusedPayment {
    const refused = { ...payIn, code };
    keep(this.refused, refused);
    return refused;
  }

  /** Money from a customer, whatever the limits say. */
  payIn(payment: Payment): Receipt {
    const { organization } = payment;
    this.#receiveFrom(organization, payment.msisdn, payment.amountCents);
    const balanceCents = receivedCentsOf(organization);
    const accountReference = referenceOf(payment);
    return this.#newReceipt({ ...payment, accountReference }, { direction: "IN", feeCents: 0, balanceCents });
  }

  /** Whether the money of a pay-in went back. */
  isReversed(number: string): boolean {
    return this.receipts.some(({ reversedReceipt }) => reversedReceipt === number);
  }

  /**
   * Sends the money of a pay-in back to its payer. Where the payer has asked M-Pesa to, nobody
   * tells the business. Refuses if the account holds less by now.
   */
  reverse(number: string): Receipt | ReversalRefusal {
    const paid = this.receipts.find((receipt) => receipt.number === number && receipt.direction === "IN");
    const organization = this.organizations.find(({ shortcode }) => shortcode === paid?.shortcode);
    if (paid === undefined || organization === undefined) return "UNKNOWN_RECEIPT";
    if (this.isReversed(number)) return "REVERSED_ALREADY";
    const { msisdn, amountCents } = paid;
    if (receivedCentsOf(organization) < amountCents) return "INSUFFICIENT_FUNDS";
    this.#receiveFrom(organization, msisdn, -amountCents);
    const about = { accountReference: "", thirdPartyTransId: "", reversedReceipt: number };
    const money = { direction: "OUT", feeCents: 0, balanceCents: receivedCentsOf(organization) } as const;
    return this.#newReceipt({ organization, msisdn, amountCents, ...about }, money);
  }

  /**
   * Moves money of the organization from its bank (IN) or to it. Refuses if the account holds less.
   */
  settle(
    organization: Organization,
    direction: Receipt["direction"],
    amountCents: number,
  ): Receipt | "INSUFFICIENT_FUNDS" {
    if (direction === "OUT" && receivedCentsOf(organization) < amountCents) return "INSUFFICIENT_FUNDS";
    this.#receive(organization, direction === "IN" ? amountCents : -amountCents);
    const atMillis = this.#settings.nowMillis();
    const receipt: Receipt = {
      number: this.#settings.ids.receipt(atMillis),
      direction,
      shortcode: organization.shortcode,
      msisdn: "",
      amountCents,
      feeCents: 0,
      atMillis,
      accountReference: "",
      balanceCents: receivedCentsOf(organization),
      thirdPartyTransId: "",
      order: undefined,
      isSettlement: true,
    };
    keep(this.receipts, receipt);
    return receipt;
  }

  /** Moves money to the account of the organization that customers pay into. */
  #receive(organization: Organization, amountCents: number): void {
    if (isTill(organization)) organization.merchantCents += amountCents;
    else organization.utilityCents += amountCents;
  }

  #receiveFrom(organization: Organization, msisdn: string, amountCents: number): void {
    this.#receive(organization, amountCents);
    this.subscriber(msisdn).balanceCents -= amountCents;
  }

  #collect(order: Collection): Receipt {
    return this.payIn({ ...order, thirdPartyTransId: order.merchantRequestId, order });
  }

  #payOut(order: Payout): Receipt {
    const { organization, business } = order;
    if (business === undefined) organization.utilityCents -= order.amountCents;
    else organization.workingCents -= order.amountCents;
    organization.chargesCents -= PAYOUT_FEE_CENTS;
    const toppedUp =
      business?.isTopUp === true ? this.organizations.find((one) => apiShortcodeOf(one) === order.msisdn) : undefined;
    if (toppedUp === undefined) this.subscriber(order.msisdn).balanceCents += order.amountCents;
    else toppedUp.utilityCents += order.amountCents;
    const payment = { ...order, accountReference: business?.accountReference ?? "", thirdPartyTransId: "", order };
    return this.#newReceipt(payment, {
      direction: "OUT",
      feeCents: PAYOUT_FEE_CENTS,
      balanceCents: business === undefined ? organization.utilityCents : organization.workingCents,
    });
  }

  #newReceipt(
    { organization, msisdn, amountCents, accountReference, thirdPartyTransId, ...payment }: Payment,
    rest: Pick<Receipt, "direction" | "feeCents" | "balanceCents">,
  ): Receipt {
    const atMillis = this.#settings.nowMillis();
    const { number = this.#settings.ids.receipt(atMillis), order, validation, scenario, reversedReceipt } = payment;
    const money = { shortcode: organization.shortcode, msisdn, amountCents };
    const about = { accountReference, thirdPartyTransId, order, validation, scenario, reversedReceipt };
    const receipt = { number, ...rest, ...money, atMillis, ...about };
    keep(this.receipts, receipt);
    keep(this.subscriber(msisdn).receipts, receipt);
    return receipt;
  }

  #refusesCollection({ organization, msisdn, amountCents }: Collection): ResultCode | undefined {
    const { balanceCents } = this.subscriber(msisdn);
    if (amountCents > AMOUNT_CENTS_MAX) return "3";
    if (this.#paidTheSame(organization, msisdn, amountCents)) return "17";
    if (this.#centsOfToday(msisdn, "IN") + amountCents > DAY_CENTS_MAX) return "4";
    if (receivedCentsOf(organization) + amountCents > organization.utilityCentsMax) return "8";
    return balanceCents < amountCents ? "1" : undefined;
  }

  #refusesPayout({ organization, msisdn, business, amountCents }: Payout): ResultCode | undefined {
    // Safaricom publishes no limits of payments to businesses.
    if (business !== undefined) return organization.workingCents < amountCents ? "1" : undefined;
    const { balanceCents } = this.subscriber(msisdn);
    if (amountCents < PAYOUT_CENTS_MIN) return "2";
    if (amountCents > AMOUNT_CENTS_MAX) return "3";
    if (this.#centsOfToday(msisdn, "OUT") + amountCents > DAY_CENTS_MAX) return "4";
    if (balanceCents + amountCents > SUBSCRIBER_CENTS_MAX) return "8";
    return organization.utilityCents < amountCents ? "1" : undefined;
  }

  #paidTheSame({ shortcode }: Organization, msisdn: string, amountCents: number): boolean {
    const sinceMillis = this.#settings.nowMillis() - SAME_AMOUNT_MILLIS;
    return this.subscriber(msisdn).receipts.some(
      (receipt) =>
        receipt.direction === "IN" &&
        receipt.shortcode === shortcode &&
        receipt.amountCents === amountCents &&
        receipt.atMillis > sinceMillis,
    );
  }

  #centsOfToday(msisdn: string, direction: Receipt["direction"]): number {
    const dayOf = (millis: number): string => {
      const { year, month, day } = nairobi(millis);
      return `${year}-${month}-${day}`;
    };
    const today = dayOf(this.#settings.nowMillis());
    return this.subscriber(msisdn)
      .receipts.filter((receipt) => receipt.direction === direction && dayOf(receipt.atMillis) === today)
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
  }
}

/** A till has no accounts, so that its payments have no reference. */
function referenceOf({ organization, accountReference }: Pick<Payment, "organization" | "accountReference">): string {
  return isTill(organization) ? "" : accountReference;
}
