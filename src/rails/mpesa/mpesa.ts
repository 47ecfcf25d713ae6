import { randomUUID } from "node:crypto";

import { otherNetworkOf } from "../../../runtime/kenyan-networks.js";
import type { Rail, TransactionType } from "../../domain/transaction.js";
import { isPayable } from "../../domain/values/payable-amounts.js";
import type { PhoneNumber } from "../../domain/values/phone-number.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { OpenPayment, RailOrder, ReturnablePayment } from "../order.js";
import type { RailProbe } from "../probe.js";
import type {
  BalanceAnswer,
  BalanceReport,
  Capabilities,
  DepositUrls,
  NameAnswer,
  NamedParty,
  NewQuestion,
  PaymentRail,
  RailMessage,
  RailPeriod,
  RailReport,
  ReceivedPayments,
  Sent,
} from "../rail.js";
import type { Clocks } from "../rail-kind.js";
import { B2B_PATH, businessRequest, reportOfBusiness, sentByBusiness } from "./b2b.js";
import { B2C_PATH, payOutRequest, reportOfPayOut, sentByPayOut } from "./b2c.js";
import { BALANCE_PATH, balanceAnswerOf, balanceRequest, readBalanceMessage, UTILITY_ACCOUNT } from "./balance.js";
import { answerToQuestion, readQuestion, registerForDeposits } from "./c2b.js";
import { DarajaClient } from "./daraja/client.js";
import { securityCredential } from "./daraja/security-credential.js";
import { explain } from "./explain.js";
import { nameRequest, readName } from "./names.js";
import { probesOf } from "./probe.js";
import { pullTransactions, registerForPulls } from "./reconciliation/pull-transactions.js";
import { reportOfReversal, REVERSAL_PATH, reversalRequest, sentByReversal } from "./reversal.js";
import type { MpesaAccount, MpesaSettings } from "./settings.js";
import { conversationOf, reportOfStatus, reportOfStatusRequest, STATUS_PATH, statusRequest } from "./status.js";
import {
  pushQuery,
  pushRequest,
  reportOfPush,
  reportOfPushQuery,
  sentByPush,
  STK_PUSH_PATH,
  STK_QUERY_PATH,
} from "./stk.js";

export const MPESA_RAIL = "mpesa" as Rail;

const SHILLING_CENTS = 100;

const MINUTE_MILLIS = 60_000;
// At 75 seconds, when a prompt has expired, and at 2, 5, 15 and 60 minutes. Then every hour.
const CHECKS_MILLIS = [75_000, 45_000, 3 * MINUTE_MILLIS, 10 * MINUTE_MILLIS, 45 * MINUTE_MILLIS, 60 * MINUTE_MILLIS];

/**
 * M-Pesa over Safaricom's Daraja API: STK push for mints, B2C and B2B for redemptions.
 * docs/mpesa.md says how each message is read.
 */
export class MpesaRail implements PaymentRail {
  readonly name = MPESA_RAIL;
  readonly checkAfterMillis = CHECKS_MILLIS;
  /** 8006: the initiator is locked, for example because its password has expired. */
  readonly lockedCodes: ReadonlySet<string> = new Set(["8006"]);
  readonly payOutAccount = UTILITY_ACCOUNT;
  readonly readQuestion = readQuestion;
  readonly answerTo = answerToQuestion;
  readonly readReturn = reportOfReversal;
  readonly explain = explain;
  readonly #account: MpesaAccount;
  readonly #client: DarajaClient;
  readonly #now: () => UnixMillis;

  /** Throws if the certificate in the settings is none. */
  constructor(settings: MpesaSettings, { now, monotonicMillis }: Clocks) {
    const { initiatorPassword, certificatePem } = settings;
    this.#account = { ...settings, securityCredential: securityCredential(initiatorPassword, certificatePem) };
    this.#client = new DarajaClient(settings, monotonicMillis);
    this.#now = now;
  }

  capabilities(direction: TransactionType): Capabilities {
    return this.#account.capabilities[direction];
  }

  /** M-Pesa serves Safaricom's lines alone. Numbers are ported, so the prefix proves nothing. */
  doubtsNumber(number: PhoneNumber): boolean {
    return otherNetworkOf(number) !== undefined;
  }

  async nameOf(party: NamedParty, signal: AbortSignal): Promise<NameAnswer> {
    const { path, request } = nameRequest(party, this.#account, { id: randomUUID(), now: this.#now() });
    return readName(await this.#client.post(path, request, signal), party);
  }

  async send(order: RailOrder, signal: AbortSignal): Promise<Sent> {
    const { direction, amountCents, numberKind, number } = order;
    const { phoneNumbers, destinations = {}, ...toPhone } = this.capabilities(direction);
    const payable = numberKind === "PHONE" ? toPhone : destinations[numberKind];
    // The domain refuses these orders. Here they mean that the limits were changed since.
    if (payable === undefined || !isPayable(amountCents, payable) || amountCents % SHILLING_CENTS !== 0) {
      return { kind: "rejected", code: "AMOUNT_NOT_PAYABLE", failure: "RAIL_REFUSED" };
    }
    if (numberKind === "PHONE" && !phoneNumbers.test(number)) {
      return { kind: "rejected", code: "PHONE_NUMBER_NOT_PAYABLE", failure: "RAIL_REFUSED" };
    }
    const shillings = amountCents / SHILLING_CENTS;
    if (direction === "MINT") {
      const request = pushRequest(order, shillings, this.#account, this.#now());
      return sentByPush(await this.#client.post(STK_PUSH_PATH, request, signal));
    }
    if (numberKind !== "PHONE") {
      const request = businessRequest(order, shillings, this.#account);
      return sentByBusiness(await this.#client.post(B2B_PATH, request, signal));
    }
    const request = payOutRequest(order, shillings, this.#account);
    return sentByPayOut(await this.#client.post(B2C_PATH, request, signal));
  }

  async query(payment: OpenPayment, signal: AbortSignal, newQuestion: NewQuestion): Promise<RailReport> {
    if (payment.direction === "REDEEM") {
      const conversation = conversationOf(payment);
      // The answer to the request was lost. Its result may bring the reference.
      if (conversation === undefined) return { kind: "open", code: "NO_REFERENCE" };
      const request = statusRequest({ conversation, question: await newQuestion() }, this.#account);
      return reportOfStatusRequest(await this.#client.post(STATUS_PATH, request, signal));
    }
    const { railReference } = payment;
    // The answer to the push was lost. Its callback, or Pull Transactions, brings the reference.
    if (railReference === undefined) return { kind: "open", code: "NO_REFERENCE" };
    const request = pushQuery(railReference, this.#account, this.#now());
    return reportOfPushQuery(await this.#client.post(STK_QUERY_PATH, request, signal), railReference);
  }

  read(message: RailMessage, payment: OpenPayment): RailReport | undefined {
    switch (message.purpose) {
      case "collect":
        return reportOfPush(message.body, payment);
      case "pay_out":
      case "timeout":
        return payment.numberKind === "PHONE" ? reportOfPayOut(message, payment) : reportOfBusiness(message, payment);
      case "status":
        return reportOfStatus(message, payment);
      case "balance":
        return undefined;
    }
  }

  async askBalance(question: string, signal: AbortSignal): Promise<BalanceAnswer> {
    const request = balanceRequest(this.#account, question);
    return balanceAnswerOf(await this.#client.post(BALANCE_PATH, request, signal));
  }

  get probes(): readonly RailProbe[] {
    return probesOf(this.#account, this.#client, this.#now);
  }

  tryApp(signal: AbortSignal): ReturnType<DarajaClient["tryToken"]> {
    return this.#client.tryToken(signal);
  }

  readBalance(message: RailMessage): BalanceReport | undefined {
    return message.purpose === "balance" ? readBalanceMessage(message) : undefined;
  }

  receivedPayments(period: RailPeriod, signal: AbortSignal): Promise<ReceivedPayments> {
    return pullTransactions(this.#client, { shortcode: this.#account.collectShortcode, period }, signal);
  }

  registerForReceivedPayments(contact: PhoneNumber, signal: AbortSignal): Promise<string | undefined> {
    const { collectShortcode, accountUuid, callbackUrl } = this.#account;
    const msisdn = contact.slice(1);
    const registration = { shortcode: collectShortcode, msisdn, callbackUrl: callbackUrl("balance", accountUuid) };
    return registerForPulls(this.#client, registration, signal);
  }

  registerForDeposits(urls: DepositUrls, signal: AbortSignal): Promise<string | undefined> {
    return registerForDeposits(this.#client, { ...urls, settings: this.#account }, signal);
  }

  async returnPayment(payment: ReturnablePayment, signal: AbortSignal): Promise<Sent> {
    const shillings = payment.amountCents / SHILLING_CENTS;
    if (!Number.isInteger(shillings)) {
      return { kind: "rejected", code: "AMOUNT_NOT_PAYABLE", failure: "RAIL_REFUSED" };
    }
    const request = reversalRequest(payment, shillings, this.#account);
    return sentByReversal(await this.#client.post(REVERSAL_PATH, request, signal));
  }
}
