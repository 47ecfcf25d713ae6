import type { Fields } from "../fields.js";
import type { BalanceAnswer, RailAccountBalance, RailBalance, RailMessage } from "../rail.js";
import type { DarajaAnswer } from "./daraja/client.js";
import { readResultMessage, responseCodeOf } from "./messages.js";
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
  if (answer.kind !== "answered") return { kind: "unavailable", code: answer.code };
  const { isOk, code, body } = answer;
  return isOk && responseCodeOf(body) === "0" ? { kind: "requested" } : { kind: "unavailable", code };
}

/**
 * Reads "Working Account|KES|700000.00|…&Utility Account|KES|228037.00|…". The third part is the
 * available balance. A part that nobody can read makes the whole message unreadable: a sum without
 * one of the accounts would be wrong.
 */
export function readBalanceMessage({ body }: RailMessage): RailBalance | undefined {
  const message = readResultMessage(body);
  const text = message?.parameters.get("AccountBalance");
  if (message?.resultCode !== "0" || text === undefined) return undefined;
  const accounts = text.split("&").map(accountOf);
  return accounts.some((account) => account === undefined)
    ? undefined
    : { accounts: accounts.filter((account) => account !== undefined) };
}

const DECIMAL = /^(-?)(\d{1,13})(?:\.(\d{1,2}))?$/;

function accountOf(text: string): RailAccountBalance | undefined {
  const [name = "", currency = "", available = ""] = text.split("|").map((part) => part.trim());
  const [, sign, shillings, fraction = ""] = DECIMAL.exec(available) ?? [];
  if (name === "" || currency === "" || shillings === undefined) return undefined;
  const cents = Number(`${shillings}${fraction.padEnd(2, "0")}`);
  return { name, currency, availableCents: sign === "-" ? -cents : cents };
}
