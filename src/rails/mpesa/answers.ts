import type { Fields } from "../fields.js";
import type { Faulty } from "../rail.js";
import { responseCodeOf } from "./messages.js";
import { type CodeSource, isProven } from "./sources.js";

/** What Daraja said. `code` is its error code, or "HTTP_502" if it has none. */
export interface Answered extends Faulty {
  readonly kind: "answered";
  readonly isOk: boolean;
  readonly code: string;
  readonly message: string;
  /** Its names have no blanks. Empty if the answer is a page of a gateway. */
  readonly body: Fields;
}

/** A request to Daraja. */
export type DarajaRequest =
  "push" | "payout" | "business" | "push query" | "status" | "balance" | "reversal" | "list" | "name" | "token";

/**
 * What the answer to a request proves:
 *
 * - `taken`: M-Pesa has it, or had it before.
 * - `not now`: nothing was taken, and the same request can succeed later.
 * - `turned away`: M-Pesa says so because of its load, and was seen to take such a request.
 * - `unknown`: it may have been taken.
 * - `asked wrongly`: nothing was taken. The service or the settings must change.
 * - `no product`: nothing was taken. Safaricom has not given the app this product.
 * - `token refused`: nothing was taken. A new token may help.
 * - `app refused`: nothing was taken. The app's key and secret are refused.
 */
export type AnswerReading =
  "taken" | "not now" | "turned away" | "unknown" | "asked wrongly" | "no product" | "token refused" | "app refused";

/** One row of the table of answers. docs/mpesa.md has the same. */
export interface AnswerRow {
  /** Daraja's errorCode, its ResponseCode, the last part of Apigee's errorcode, or "HTTP_403". */
  readonly code: string;
  /** Some codes have several meanings, which only the message tells apart. */
  readonly message?: RegExp;
  /** The requests for which it holds. All when omitted. */
  readonly of?: readonly DarajaRequest[];
  readonly reading: AnswerReading;
  readonly retryAfterMillis?: number;
  readonly words: string;
  readonly sources: readonly CodeSource[];
}

const SECOND_MILLIS = 1_000;
const SOON = { retryAfterMillis: 5 * SECOND_MILLIS } as const;
const LATER = { retryAfterMillis: 60 * SECOND_MILLIS } as const;
const PAGES: readonly CodeSource[] = ["safaricom", "paylod", "mcp"];
const SAFARICOM: readonly CodeSource[] = ["safaricom"];

/** The first row that fits counts. An answer that no row fits is unknown. */
export const ANSWERS: readonly AnswerRow[] = [
  {
    code: "500.002.1001",
    message: /duplicate originator ?conversation ?id/i,
    of: ["payout"],
    reading: "taken",
    words: "a request with this id was taken before",
    sources: SAFARICOM,
  },

  { code: "400.002.02", message: /invalid/i, reading: "asked wrongly", words: "a field is wrong", sources: SAFARICOM },
  { code: "400.002.05", reading: "asked wrongly", words: "the request is malformed", sources: PAGES },
  { code: "400.003.02", reading: "asked wrongly", words: "a field is wrong", sources: PAGES },
  { code: "404.001.01", reading: "asked wrongly", words: "there is no such path: compare baseUrl", sources: PAGES },
  { code: "404.001.04", reading: "asked wrongly", words: "the header of the token is wrong", sources: PAGES },
  { code: "404.002.01", reading: "asked wrongly", words: "there is no such resource", sources: PAGES },
  { code: "404.003.01", reading: "asked wrongly", words: "there is no such resource", sources: PAGES },
  { code: "405.001", reading: "asked wrongly", words: "the method is wrong", sources: PAGES },
  { code: "100000005", reading: "asked wrongly", words: "a value is wrong", sources: PAGES },
  { code: "100000010", reading: "asked wrongly", words: "the app may not do this", sources: PAGES },
  { code: "24", reading: "asked wrongly", words: "a field is missing", sources: PAGES },
  {
    code: "500.001.1001",
    message: /merchant does not exist/i,
    of: ["push", "push query"],
    reading: "asked wrongly",
    words: "no such shortcode",
    sources: SAFARICOM,
  },
  {
    code: "500.001.1001",
    message: /wrong credentials/i,
    of: ["push", "push query"],
    reading: "asked wrongly",
    words: "the passkey is wrong",
    sources: SAFARICOM,
  },

  {
    code: "401.003.01",
    reading: "no product",
    words: "the app lacks the product of this path",
    sources: ["safaricom", "production"],
  },
  {
    code: "InvalidAPICallAsNoApiProductMatchFound",
    reading: "no product",
    words: "the app lacks the product of this path",
    sources: ["apigee", "production"],
  },
  {
    code: "InvalidApiKeyForGivenResource",
    reading: "no product",
    words: "the app lacks the product of this path",
    sources: ["apigee"],
  },

  // Each product has its own code for a token that is not valid (any more).
  { code: "404.001.03", reading: "token refused", words: "the token is invalid", sources: SAFARICOM },
  {
    code: "401.001",
    message: /invalid access token/i,
    reading: "token refused",
    words: "the token is invalid",
    sources: SAFARICOM,
  },
  { code: "401.002.01", reading: "token refused", words: "the token is invalid", sources: SAFARICOM },
  { code: "400.003.01", reading: "token refused", words: "the token is invalid", sources: SAFARICOM },
  { code: "InvalidAccessToken", reading: "token refused", words: "the token is invalid", sources: ["apigee"] },
  { code: "invalid_access_token", reading: "token refused", words: "the token is invalid", sources: ["apigee"] },
  { code: "access_token_expired", reading: "token refused", words: "the token has expired", sources: ["apigee"] },
  {
    code: "400.008.01",
    of: ["token"],
    reading: "app refused",
    words: "the app's key and secret are refused",
    sources: ["mcp", "daraja"],
  },
  {
    code: "400.008.02",
    of: ["token"],
    reading: "app refused",
    words: "the app's key and secret are refused",
    sources: ["mcp", "daraja"],
  },

  // The payer has another prompt open. M-Pesa unlocks the payer after a minute.
  {
    code: "500.001.1001",
    message: /unable to lock subscriber/i,
    of: ["push"],
    reading: "not now",
    ...LATER,
    words: "the payer has another prompt",
    sources: SAFARICOM,
  },
  { code: "00.002.1001", reading: "not now", ...LATER, words: "M-Pesa is under maintenance", sources: SAFARICOM },

  {
    code: "500.003.02",
    reading: "turned away",
    ...SOON,
    words: "too many requests, or M-Pesa is busy",
    sources: SAFARICOM,
  },
  {
    code: "500.003.03",
    reading: "turned away",
    ...LATER,
    words: "the quota of requests is used up",
    sources: SAFARICOM,
  },
  { code: "100000001", reading: "turned away", ...SOON, words: "M-Pesa is overloaded", sources: SAFARICOM },
  { code: "100000002", reading: "turned away", ...SOON, words: "too many requests", sources: SAFARICOM },
  { code: "100000011", reading: "turned away", ...SOON, words: "too many requests", sources: SAFARICOM },
  { code: "SpikeArrestViolation", reading: "turned away", ...SOON, words: "too many requests", sources: ["apigee"] },
  {
    code: "QuotaViolation",
    reading: "turned away",
    ...LATER,
    words: "the quota of requests is used up",
    sources: ["apigee"],
  },
  { code: "HTTP_429", reading: "turned away", ...SOON, words: "too many requests", sources: ["http", "production"] },

  {
    code: "100000000",
    reading: "unknown",
    words: "cached, and sent on later: it may still be paid",
    sources: SAFARICOM,
  },
  { code: "500.002.1001", reading: "unknown", words: "an error inside M-Pesa", sources: SAFARICOM },
  { code: "500.003.1001", reading: "unknown", words: "an error inside M-Pesa", sources: SAFARICOM },
  {
    code: "500.001.1001",
    reading: "unknown",
    words: "an error inside M-Pesa, or a prompt that is being processed",
    sources: SAFARICOM,
  },

  // No code of Daraja: its gateway, its firewall or a proxy has answered.
  {
    code: "HTTP_403",
    reading: "not now",
    ...LATER,
    words: "the firewall turns requests away",
    sources: ["http", "production"],
  },
  { code: "HTTP_400", reading: "asked wrongly", words: "the gateway refuses the request", sources: ["http"] },
  { code: "HTTP_401", reading: "asked wrongly", words: "the gateway refuses the app", sources: ["http"] },
  { code: "HTTP_404", reading: "asked wrongly", words: "there is no such path: compare baseUrl", sources: ["http"] },
  { code: "HTTP_405", reading: "asked wrongly", words: "the method is wrong", sources: ["http"] },
  {
    code: "HTTP_415",
    reading: "asked wrongly",
    words: "the gateway refuses the form of the request",
    sources: ["http"],
  },
];

/** In place of a code: the rail acknowledged a request by a message without one. */
export const NO_CODE = "NO_RESPONSE_CODE";
/** In place of a code: the answer names another order than the one that was asked about. */
export const FOREIGN_ANSWER = "FOREIGN_ANSWER";
const UNEXPLAINED = "no document explains it";
/** What M-Pesa calls a success: "0", "00" or "00000000". */
const SUCCESS = /^0+$/;

export interface ReadAnswer {
  readonly reading: AnswerReading;
  readonly code: string;
  readonly retryAfterMillis: number;
  readonly words: string;
}

/**
 * Reads what Daraja said to a request. Without the request, only rows fit that hold for all. Of an
 * answer of the network there is nothing to read.
 */
export function readAnswer(answer: Answered, of?: DarajaRequest): ReadAnswer {
  const { isOk, message, body } = answer;
  const responseCode = responseCodeOf(body);
  const isWithoutCode = isOk && responseCode === undefined && answer.code.startsWith("HTTP_");
  const code = isWithoutCode ? NO_CODE : isOk ? (responseCode ?? answer.code) : answer.code;
  if (isOk && SUCCESS.test(code)) return read("taken", code, "taken");
  const row = ANSWERS.find(
    (known) => known.code === code && isFor(known, of) && known.message?.test(message) !== false,
  );
  // A row that nothing settles proves nothing.
  if (row === undefined || !isProven(row.sources)) return read("unknown", code, UNEXPLAINED);
  return { reading: row.reading, code, retryAfterMillis: row.retryAfterMillis ?? 0, words: row.words };
}

/** Says in words what a code in the answer to a request means. */
export function answerWords(code: string, of: DarajaRequest | undefined): string {
  if (code === NO_CODE) return "taken without a code, so that no result comes";
  if (code === FOREIGN_ANSWER) return "the answer is about something else";
  const words = ANSWERS.filter((row) => row.code === code && isFor(row, of)).map((row) => row.words);
  return words.length === 0 ? UNEXPLAINED : [...new Set(words)].join("; or ");
}

function isFor({ of: own }: AnswerRow, of: DarajaRequest | undefined): boolean {
  return own === undefined || (of !== undefined && own.includes(of));
}

function read(reading: AnswerReading, code: string, words: string): ReadAnswer {
  return { reading, code, retryAfterMillis: 0, words };
}
