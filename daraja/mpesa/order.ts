import type { Organization } from "./organization.js";
import type { ResultCode } from "./results.js";
import type { HandScenario, Scenario } from "./scenarios.js";

interface Accepted {
  readonly organization: Organization;
  /** The phone of who pays or is paid. Of a B2B request, the number of the business. */
  readonly msisdn: string;
  readonly amountCents: number;
  readonly acceptedAtMillis: number;
  readonly scenario: Scenario;
  /** The newest. A late success replaces a failure. */
  outcome: Outcome | undefined;
  /** How many queries have asked for this order. */
  queries: number;
}

/** An accepted STK push. */
export interface Collection extends Accepted {
  readonly direction: "IN";
  readonly merchantRequestId: string;
  readonly checkoutRequestId: string;
  readonly accountReference: string;
  readonly callbackUrl: string;
}

/** An accepted B2C request, or a B2B request. */
export interface Payout extends Accepted {
  readonly direction: "OUT";
  /** The payment to the business whose number is in `msisdn`. Undefined where a phone is paid. */
  readonly business: BusinessPayment | undefined;
  readonly conversationId: string;
  readonly originatorConversationId: string;
  readonly resultUrl: string;
  readonly queueTimeOutUrl: string;
  /** The body as it came. The timeout of the queue sends it back. */
  readonly request: Readonly<Record<string, unknown>>;
}

export interface BusinessPayment {
  /** Such as "Business Buy Goods": what a statement calls the product. */
  readonly words: string;
  readonly accountReference: string;
  /** Whether the money goes to the utility account of a shortcode, from which it pays out. */
  readonly isTopUp: boolean;
}

export type Order = Collection | Payout;

export interface Outcome {
  readonly code: ResultCode;
  readonly status: "Completed" | "Declined" | "Expired";
  readonly atMillis: number;
  /** Failures have one too: it proves no payment. */
  readonly transactionId: string;
  readonly receipt: Receipt | undefined;
}

/** A payment that a customer begins: at the phone's menu, and not at a prompt. */
export interface HandPayment {
  readonly organization: Organization;
  readonly msisdn: string;
  readonly amountCents: number;
  readonly accountReference: string;
}

/** A payment by hand that has a number, and has not moved. */
export interface PayIn extends HandPayment {
  readonly number: string;
  readonly atMillis: number;
}

/** A payment that M-Pesa stopped, because of the answer of the ValidationURL. */
export interface RefusedPayment extends PayIn {
  /** The ResultCode of the answer; "unreachable" if there was none. */
  readonly code: string;
}

/** Money that moved. */
export interface Receipt {
  readonly number: string;
  readonly direction: "IN" | "OUT";
  readonly shortcode: string;
  readonly msisdn: string;
  readonly amountCents: number;
  readonly feeCents: number;
  readonly atMillis: number;
  /** The account that the payer named; empty for a payout to a phone. */
  readonly accountReference: string;
  /** The new balance of the organization's account that took or gave the money. */
  readonly balanceCents: number;
  /** The push's MerchantRequestID, or the id from the validation's answer; often empty. */
  readonly thirdPartyTransId: string;
  /** Undefined where the customer paid without a prompt. */
  readonly order: Order | undefined;
  /** What the ValidationURL said; undefined where it was not asked. */
  readonly validation?: "accepted" | "unreachable" | undefined;
  /** Undefined where there is an order, which has its own. */
  readonly scenario?: HandScenario | undefined;
  /** Of a reversal: the receipt of the payment that went back to its payer. */
  readonly reversedReceipt?: string | undefined;
  /** Whether the money moved between the organization's bank and its account here. */
  readonly isSettlement?: true;
}
