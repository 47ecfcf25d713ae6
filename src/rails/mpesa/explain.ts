import { UNCONFIRMED } from "../../domain/payment.js";
import { answerWords, type DarajaRequest } from "./answers.js";
import { B2B_PATH } from "./b2b.js";
import { B2C_PATH } from "./b2c.js";
import { BALANCE_PATH } from "./balance.js";
import { resultPlace } from "./messages.js";
import { readResult, type ResultOf } from "./result-codes.js";
import { REVERSAL_PATH } from "./reversal.js";
import { STATUS_PATH } from "./status.js";
import { STK_PUSH_PATH, STK_QUERY_PATH } from "./stk.js";

const REQUESTS: Readonly<Record<string, DarajaRequest>> = {
  [STK_PUSH_PATH]: "push",
  [STK_QUERY_PATH]: "push query",
  [B2C_PATH]: "payout",
  [B2B_PATH]: "business",
  [STATUS_PATH]: "status",
  [BALANCE_PATH]: "balance",
  [REVERSAL_PATH]: "reversal",
};

const RESULTS: Readonly<Record<string, ResultOf>> = {
  [resultPlace(STK_PUSH_PATH)]: "push",
  [resultPlace(B2C_PATH)]: "payout",
  [resultPlace(B2B_PATH)]: "payout",
  [resultPlace(STATUS_PATH)]: "status",
};

/** Says in words what a code of M-Pesa means, and where it comes from. */
export function explain(code: string, place: string): string {
  if (place === UNCONFIRMED) return `a message says so, and no query has confirmed it (${code}, ${place})`;
  const of = RESULTS[place];
  const words = of === undefined ? answerWords(code, REQUESTS[place]) : readResult(of, code).words;
  return `${words} (${code}, ${place})`;
}
