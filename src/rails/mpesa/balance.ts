import type { Fields } from "../fields.js";
import type { BalanceAnswer, BalanceReport, RailAccountBalance, RailMessage } from "../rail.js";
import { signedAmount } from "../written-amount.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { faultOf, readResultMessage } from "./messages.js";
import { faultIn } from "./result-codes.js";
import { notAsked } from "./sent.js";
import type { MpesaAccount } from "./settings.js";

export const BALANCE_PATH = "/mpesa/accountbalance/v1/query";

/** The account of a shortcode from which a payment to a customer is paid. */
export const UTILITY_ACCOUNT = "Utility Account";

export function balanceRequest(account: MpesaAccount, question: string): Fields {
  const url = account.callbackUrl("balance", question);
  return {
    Initiator: account.initiatorName,
    SecurityCredential: account.securityCredential,
    CommandID: "AccountBalance",
    PartyA: account.payOutShortcode,
    IdentifierType: "4",
    Remarks: "KESC balance",
    QueueTimeOutURL: url,
    ResultURL: url,
  };
}

export function balanceAnswerOf(answer: DarajaAnswer): BalanceAnswer {
  const problem = notAsked(answer, { of: "balance", path: BALANCE_PATH });
  if (problem === undefined) return { kind: "requested" };
  return { kind: "unavailable", code: problem.code, ...faultOf(problem.fault) };
}

/**
 * Reads "Working Account|KES|700000.00|…&Utility Account|KES|228037.00|…". The third part is the
 * available balance. A part that nobody can read makes the whole message unreadable: a sum without
 * one of the accounts would be wrong.
 */
export function readBalanceMessage({ body }: RailMessage): BalanceReport | undefined {
  const message = readResultMessage(body);
  if (message === undefined) return undefined;
  const { resultCode: code, parameters } = message;
  if (code !== "0") return { kind: "refused", code, ...faultOf(faultIn("balance", code, BALANCE_PATH)) };
  const accounts = parameters.get("AccountBalance")?.split("&").map(accountOf);
  return accounts === undefined || accounts.some((account) => account === undefined)
    ? undefined
    : { kind: "told", balance: { accounts: accounts.filter((account) => account !== undefined) } };
}

function accountOf(text: string): RailAccountBalance | undefined {
  const [name = "", currency = "", available = ""] = text.split("|").map((part) => part.trim());
  const cents = /\d/.test(available) ? (signedAmount(available) ?? 0) : "bad";
  return name === "" || currency === "" || cents === "bad" ? undefined : { name, currency, availableCents: cents };
}
