import type { PaymentByHand, PaymentVerdict } from "../domain/deposits/payment-verdict.js";
import type { PayableDestinations, RailFailure, RailReceipt } from "../domain/payment.js";
import type { Rail, TransactionType } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { MaskedPhone } from "../domain/values/masked-phone.js";
import type { PayableAmounts } from "../domain/values/payable-amounts.js";
import type { PhoneNumber } from "../domain/values/phone-number.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { CallbackPurpose } from "./callback-token.js";
import type { OpenPayment, RailOrder, ReturnablePayment } from "./order.js";

/**
 * A way to move shillings, with the account that an organization has there. No method throws or
 * rejects because of the rail, the network or a message: what went wrong is part of the result.
 *
 * The texts of results hold codes only: no secret, no name, and no phone number that is not masked.
 */
export interface PaymentRail {
  readonly name: Rail;

  capabilities(direction: TransactionType): Capabilities;

  /**
   * Asks the rail to carry out the order. The caller must have stored before that the order is
   * about to be sent.
   *
   * The result speaks of this one request. If the order may have been sent before, pass the result
   * through `sentAgain`.
   */
  send(order: RailOrder, signal: AbortSignal): Promise<Sent>;

  /**
   * Asks the rail what became of the order. A rail may answer later, with a message: then the
   * report is open.
   */
  query(payment: OpenPayment, signal: AbortSignal): Promise<RailReport>;

  /**
   * Reads a message of the rail about the payment, which may have ended. Pure. Returns undefined if
   * the text is no message of this rail, or is about another payment.
   *
   * Anybody who learns a callback's address can send such a message. So it is a hint: the caller
   * asks `query` before money is released or recognised.
   */
  read(message: RailMessage, payment: OpenPayment): RailReport | undefined;

  /**
   * Whether nobody may send the order yet: it stays PENDING, and can be canceled. Only a sandbox
   * says so, until somebody advances the order.
   */
  isHeld?(payment: Pick<OpenPayment, "maskedNumber" | "advances">): boolean;

  /**
   * Asks for the balance of the account at the rail. The rail answers at an address that names
   * `question`, a random UUID: who has learned an earlier address can forge no later answer.
   */
  askBalance(question: string, signal: AbortSignal): Promise<BalanceAnswer>;

  /** Reads the message that answers `askBalance`. Pure. Undefined if it is no such message. */
  readBalance(message: RailMessage): RailBalance | undefined;

  /** The account in a balance from which payouts are paid. Absent if a rail tells no balance. */
  readonly payOutAccount?: string;

  /**
   * How long to wait before each query for the outcome of an order, from the request on. The last
   * wait is repeated.
   */
  readonly checkAfterMillis: readonly number[];

  /**
   * The codes of open reports which say that the rail refuses every payout of this account, until
   * an operator has acted. None when omitted.
   */
  readonly lockedCodes?: ReadonlySet<string>;

  /**
   * The messages of a rail that sends none over a network: a sandbox. The caller delivers each at
   * its time, and may deliver it twice.
   */
  messagesOf?(payment: OpenPayment): readonly TimedMessage[];

  /** Lists every payment that came in, of a rail that can say so, for reconciliation. */
  receivedPayments?(period: RailPeriod, signal: AbortSignal): Promise<ReceivedPayments>;

  /**
   * Registers the account for `receivedPayments`, if the rail wants that once. A second time
   * changes nothing. Returns the code of a failure.
   */
  registerForReceivedPayments?(contact: PhoneNumber, signal: AbortSignal): Promise<string | undefined>;

  /**
   * Tells the rail where it confirms payments without an order, and where it asks whether it may
   * take one. Only a rail that lists received payments has it. Returns the code of a failure:
   * URLS_ALREADY_REGISTERED if it keeps addresses that it was given before.
   */
  registerForDeposits?(urls: DepositUrls, signal: AbortSignal): Promise<string | undefined>;

  /**
   * Reads the rail's question whether it may take a payment, which has not moved yet. Pure. Returns
   * undefined if the text is no such question, or if the service must let the payment pass.
   */
  readQuestion?(body: string): PaymentByHand | undefined;

  /** Returns the text that answers such a question. Pure. */
  answerTo?(verdict: PaymentVerdict): string;

  /**
   * Asks the rail to return a payment to its payer, of a rail that can. The rail returns a payment
   * once, so the request can be sent again. `railReference` of the result names this request, and a
   * message says later what became of it.
   */
  returnPayment?(payment: ReturnablePayment, signal: AbortSignal): Promise<Sent>;

  /**
   * Reads a message about such a request. Pure. Anybody who learns the address can send one: only a
   * message with the name of a request of ours is the rail's. Undefined if it says nothing.
   */
  readReturn?(body: string, payment: ReturnablePayment): ReturnReport | undefined;
}

/** What a message says about the return of a payment. */
export type ReturnReport = {
  /** The `railReference` of the request that it answers. */
  readonly request: string | undefined;
} & (
  | { readonly kind: "returned"; readonly receipt: RailReceipt }
  /** The rail has not returned the payment, and does not because of this request. */
  | { readonly kind: "refused"; readonly code: string }
  /** An earlier request has returned it, whoever sent that. */
  | { readonly kind: "returned before"; readonly code: string }
  | { readonly kind: "open"; readonly code: string }
);

/** Where a rail sends what it has to say about payments without an order. */
export interface DepositUrls {
  readonly confirmationUrl: string;
  readonly validationUrl: string;
}

export interface Capabilities extends PayableAmounts {
  /** The phone numbers, in E.164, that the rail can collect from or pay to. */
  readonly phoneNumbers: RegExp;
  /** What this account pays out to destinations. Nothing when omitted. */
  readonly destinations?: PayableDestinations;
}

/** What is known about one request after it was sent. */
export type Sent =
  | {
      readonly kind: "accepted";
      /** The rail's own name for the order, to query it by. Not every answer has one. */
      readonly railReference: string | undefined;
    }
  /** The rail refused the request for good, with a code from its list of final failures. */
  | { readonly kind: "rejected"; readonly code: string; readonly failure: RailFailure }
  /** The rail took nothing of the request. It can be sent again. */
  | {
      readonly kind: "unreached";
      readonly code: string;
      readonly retryAfterMillis: number;
      /** The rail says so because of its load. It was seen to take such a request all the same. */
      readonly isTurnedAway?: true;
    }
  /** Nobody knows. Every result that is not one of the others is this one. */
  | { readonly kind: "unknown"; readonly code: string };

/** What the rail says about an order. */
export type RailReport =
  | {
      readonly kind: "succeeded";
      /** The rail's name for what moved. It is the same in each report about one movement. */
      readonly movement: string | undefined;
      readonly receipt: RailReceipt | undefined;
      /** Undefined if the report has no amount. */
      readonly amountCents: Cents | undefined;
      readonly phone: MaskedPhone | undefined;
    }
  | {
      readonly kind: "failed";
      /** As above. A payment without a `railReference` can be queried by it. */
      readonly movement: string | undefined;
      readonly code: string;
      readonly failure: RailFailure;
    }
  /** The outcome is not known yet. */
  | { readonly kind: "open"; readonly code: string };

export interface RailMessage {
  /** From the token in the address at which the message arrived. */
  readonly purpose: CallbackPurpose;
  /** The text as it came, or masked by `maskMessage`: both read alike. */
  readonly body: string;
}

export interface TimedMessage extends RailMessage {
  readonly at: UnixMillis;
}

export type BalanceAnswer =
  /** The rail answers later, with a message for `readBalance`. */
  { readonly kind: "requested" } | { readonly kind: "unavailable"; readonly code: string };

export interface RailBalance {
  readonly accounts: readonly RailAccountBalance[];
}

export interface RailAccountBalance {
  readonly name: string;
  readonly currency: string;
  /** A whole number of cents. It may be negative, for example for an account of fees. */
  readonly availableCents: number;
}

/** From its first to its last moment. */
export interface RailPeriod {
  readonly from: UnixMillis;
  readonly to: UnixMillis;
}

export type ReceivedPayments =
  | {
      readonly kind: "complete";
      readonly payments: readonly ReceivedPayment[];
      /** The rows that the list has beside the payments. A person must look at them. */
      readonly unreadable: readonly UnreadableRow[];
    }
  /** At least a page of the list could not be read: no list is better than half. */
  | { readonly kind: "failed"; readonly code: string };

/** A payment that came in, as the rail lists it. */
export interface ReceivedPayment {
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** What the payer typed, or what the order's prompt showed. Empty if there is nothing. */
  readonly reference: string;
  /** The last characters of the transaction's id, in lower case, if the payment names one. */
  readonly idEnd: string | undefined;
  readonly phone: MaskedPhone | undefined;
  /** Undefined if the rail does not say it without doubt. */
  readonly receivedAt: UnixMillis | undefined;
}

/** A row of the rail's list from which no payment can be read. */
export interface UnreadableRow {
  /** Undefined if the row has no receipt that can be read. */
  readonly receipt: RailReceipt | undefined;
  readonly receivedAt: UnixMillis | undefined;
}

/**
 * Returns what the answer to a repeated request says about the order. An earlier request may have
 * been taken, so the refusal of this one proves nothing about the order.
 */
export function sentAgain(sent: Sent): Sent {
  return sent.kind === "accepted" ? sent : { kind: "unknown", code: sent.code };
}
