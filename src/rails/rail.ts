import type { PaymentByHand, PaymentVerdict } from "../domain/deposits/payment-verdict.js";
import type { BankNumber, DestinationKind, DestinationNumber } from "../domain/destination.js";
import type { PayableDestinations, RailFailure, RailReceipt } from "../domain/payment.js";
import type { RefusedCredential } from "../domain/rail-account.js";
import type { Rail, TransactionType } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { TransactionId } from "../domain/values/ids.js";
import type { MaskedPhone } from "../domain/values/masked-phone.js";
import type { NairobiDay } from "../domain/values/nairobi-day.js";
import type { PayableAmounts } from "../domain/values/payable-amounts.js";
import type { PhoneNumber } from "../domain/values/phone-number.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { CallbackPurpose } from "./callback-token.js";
import type { OpenPayment, RailOrder, ReturnablePayment } from "./order.js";
import type { RailProbe } from "./probe.js";

/**
 * A way to move shillings, with the account that an organization has there. No method throws or
 * rejects because of the rail, the network or a message: what went wrong is part of the result.
 *
 * The texts of results hold codes only: no secret, no name, and no phone number that is not masked.
 * Only `nameOf` tells a name.
 */
export interface PaymentRail {
  readonly name: Rail;

  /** Whether no shilling moves: an unknown outcome is a test, which nobody must look into. */
  readonly isSandbox?: true;

  capabilities(direction: TransactionType): Capabilities;

  /**
   * Whether the rail probably does not serve the number, although it looks right: it is a hint, and
   * no reason to refuse. Never when omitted.
   */
  doubtsNumber?(number: PhoneNumber): boolean;

  /**
   * Asks the rail what it calls the owner of a number, of a rail that can tell. It moves nothing,
   * and nothing depends on it.
   */
  nameOf?(party: NamedParty, signal: AbortSignal): Promise<NameAnswer>;

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
   * report is open, and the address for the message names the question that `newQuestion` returns.
   */
  query(payment: OpenPayment, signal: AbortSignal, newQuestion: NewQuestion): Promise<RailReport>;

  /**
   * Reads a message of the rail about the payment, which may have ended. Pure. Returns undefined if
   * the text is no message of this rail, or is about another payment.
   *
   * Anybody who learns a callback's address can send such a message. So it is a hint: the caller
   * asks `query` before money is released or recognised.
   */
  read(message: RailMessage, payment: OpenPayment): RailReport | undefined;

  /**
   * Writes the payouts as a file that a person takes to a bank. Pure, and always the same bytes. A
   * rail that has it gets no order from the settlement: its payouts stay READY until they are in a
   * file.
   */
  writeFile?(file: PaymentFile): Buffer;

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
  readBalance(message: RailMessage): BalanceReport | undefined;

  /** Says in words what a code at this place means. Pure. Undefined if the rail cannot. */
  explain?(code: string, place: string): string | undefined;

  /**
   * Tries the credential of the program alone: it moves nothing and asks nothing. Undefined if the
   * rail has taken it. Absent if the rail has none.
   */
  tryApp?(signal: AbortSignal): Promise<({ readonly code: string } & Faulty) | undefined>;

  /** Questions that move nothing, one for each product of the account, in their order. */
  readonly probes?: readonly RailProbe[];

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
   * changes nothing. Returns the code of a failure, with its place behind a blank (`ToldCode`).
   */
  registerForReceivedPayments?(contact: PhoneNumber, signal: AbortSignal): Promise<string | undefined>;

  /**
   * Tells the rail where it confirms payments without an order, and where it asks whether it may
   * take one. Only a rail that lists received payments has it. Returns the code of a failure, as
   * `registerForReceivedPayments` does: URLS_ALREADY_REGISTERED if it keeps addresses that it was
   * given before.
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

/** Whose name a rail is asked for. A number of a bank is in no rail's books. */
export interface NamedParty {
  readonly kind: Exclude<DestinationKind, "BANK">;
  readonly number: DestinationNumber;
}

export type NameAnswer =
  | { readonly kind: "told"; readonly name: string }
  /** The rail knows no such number, or does not tell. */
  | { readonly kind: "none"; readonly code: string }
  /** The account has not the product: nobody needs to ask again until that has changed. */
  | { readonly kind: "lacking"; readonly code: string }
  | { readonly kind: "unanswered"; readonly code: string };

/** What a payment file says. */
export interface PaymentFile {
  /** Its name at the bank: at most 35 capital letters and digits. */
  readonly id: string;
  /** When its newest payment was accepted. */
  readonly createdAt: UnixMillis;
  /** The day in Kenya on which the bank is asked to pay. */
  readonly day: NairobiDay;
  readonly payments: readonly FilePayment[];
}

export interface FilePayment {
  readonly transactionId: TransactionId;
  readonly amountCents: Cents;
  readonly number: BankNumber;
}

/**
 * Returns a random UUID that names one query. It counts until its answer has come, or the next one
 * is asked: who has learned an earlier address can forge no answer. May reject.
 */
export type NewQuestion = () => Promise<string>;

/** What a message says about the return of a payment. */
export type ReturnReport = {
  /** The `railReference` of the request that it answers. */
  readonly request: string | undefined;
  /** As of a request. */
  readonly fault?: RailFault | undefined;
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

/** What no new request mends: a person must act. It is the account's, whatever the order is. */
export type RailFault =
  | {
      readonly kind: "credentials";
      /** `initiator`: payouts, queries, balances and returns need it. `app`: all requests do. */
      readonly credential: RefusedCredential;
      readonly code: string;
    }
  /** The service asks wrongly, or the account may not ask this. */
  | { readonly kind: "request"; readonly request: string; readonly code: string };

/** What is known about one request after it was sent. */
export type Sent = (
  | {
      readonly kind: "accepted";
      /** The rail's own name for the order, to query it by. Not every answer has one. */
      readonly railReference: string | undefined;
    }
  /** The rail refused the request for good, with a code from its list of final failures. */
  | {
      readonly kind: "rejected";
      readonly code: string;
      readonly place?: string | undefined;
      readonly failure: RailFailure;
    }
  /** The rail took nothing of the request. It can be sent again. */
  | {
      readonly kind: "unreached";
      readonly code: string;
      readonly retryAfterMillis: number;
      /** The rail says so because of its load. It was seen to take such a request all the same. */
      readonly isTurnedAway?: true;
    }
  /** Nobody knows. Every result that is not one of the others is this one. */
  | { readonly kind: "unknown"; readonly code: string; readonly place?: string }
) &
  Faulty;

/** A result that may tell of a fault, beside what it says of the order. */
export interface Faulty {
  readonly fault?: RailFault | undefined;
}

/** What the rail says about an order. */
export type RailReport = (
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
      readonly place?: string | undefined;
      readonly failure: RailFailure;
    }
  /** The outcome is not known yet. */
  | {
      readonly kind: "open";
      readonly code: string;
      /** Where the rail said it, if it tells something that lasts. */
      readonly place?: string | undefined;
      /** Nobody is sure what the code means, and the rail may say no more: a person must look. */
      readonly isUnclear?: true;
    }
) &
  Faulty;

export interface RailMessage {
  /** From the token in the address at which the message arrived. */
  readonly purpose: CallbackPurpose;
  /** The text as it came, or masked by `maskMessage`: both read alike. */
  readonly body: string;
}

export interface TimedMessage extends RailMessage {
  readonly at: UnixMillis;
}

export type BalanceAnswer = (
  | { readonly kind: "requested" } // The rail answers later, with a message for `readBalance`.
  | { readonly kind: "unavailable"; readonly code: string }
) &
  Faulty;

export type BalanceReport =
  | { readonly kind: "told"; readonly balance: RailBalance }
  /** The rail tells no balance. */
  | ({ readonly kind: "refused"; readonly code: string } & Faulty);

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
      /** The rows that are no payment to credit. None when omitted. */
      readonly others?: readonly UncreditedRow[];
    }
  /** At least a page of the list could not be read: no list is better than half. */
  | ({ readonly kind: "failed"; readonly code: string } & Faulty);

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
  readonly doubtful?: DoubtfulTime | undefined;
}

/** A time of which nobody knows by the row alone in which zone its clock is. */
export interface DoubtfulTime {
  readonly ifUtc: UnixMillis;
  /** If it is the clock of the rail's country. It is before the other one. */
  readonly ifLocal: UnixMillis;
  /** Whether the row says that it is UTC. */
  readonly saysUtc: boolean;
}

/** A row of the rail's list from which no payment can be read. */
export interface UnreadableRow {
  /** Undefined if the row has no receipt that can be read. */
  readonly receipt: RailReceipt | undefined;
  readonly receivedAt: UnixMillis | undefined;
  readonly doubtful?: DoubtfulTime | undefined;
}

/** A row whose kind is not one of those that credit somebody. */
export interface UncreditedRow extends UnreadableRow {
  /** The rail's word for it. Empty if it has none. */
  readonly kind: string;
  /** Whether the word is known for what is nobody's payment. Otherwise a person must look. */
  readonly isKnown: boolean;
}

/**
 * Returns what the answer to a repeated request says about the order. An earlier request may have
 * been taken, so the refusal of this one proves nothing about the order.
 */
export function sentAgain(sent: Sent): Sent {
  if (sent.kind === "accepted" || sent.kind === "unknown") return sent;
  const { code, fault } = sent;
  const place = "place" in sent ? sent.place : undefined;
  return {
    kind: "unknown",
    code,
    ...(place === undefined ? {} : { place }),
    ...(fault === undefined ? {} : { fault }),
  };
}
