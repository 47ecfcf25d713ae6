import type { RailFailure } from "../../domain/payment.js";
import type { RailFault } from "../rail.js";
import { type CodeSource, isProven } from "./sources.js";

/** What was asked, whose result it is. */
export type ResultOf = "push" | "payout" | "status" | "balance" | "reversal";

/**
 * What a ResultCode says of the money:
 *
 * - `not moved`: the shillings did not move, and never will because of this request.
 * - `asked wrongly`: the same, because of the service or of the account at M-Pesa.
 * - `initiator refused`: the same, because of the initiator's name, password or role.
 * - `unknown`: the sources do not say it, or differ.
 * - `pending`: the outcome comes later.
 * - `locked`: every payout is refused until a person has acted.
 */
type Means = "not moved" | "asked wrongly" | "initiator refused" | "unknown" | "pending" | "locked";

/** One row of the table. docs/mpesa.md has the same. */
export interface ResultRow {
  readonly code: string;
  readonly means: Means;
  /** Why the order failed, if the code ends it. */
  readonly failure?: RailFailure;
  /** The code means so only where its description has these words. Else it is unknown. */
  readonly description?: RegExp;
  readonly words: string;
  readonly sources: readonly CodeSource[];
}

const REFUSED = { means: "not moved", failure: "RAIL_REFUSED" } as const;
const ASKED_WRONGLY = { means: "asked wrongly", failure: "RAIL_REFUSED" } as const;
const INITIATOR = { means: "initiator refused", failure: "RAIL_REFUSED" } as const;
const UNKNOWN = { means: "unknown" } as const;
const SAFARICOM: readonly CodeSource[] = ["safaricom"];
const BOTH: readonly CodeSource[] = ["safaricom", "mcp"];

/** Of an STK push: in its callback, and in the answer to the STK query. */
const OF_PUSH: readonly ResultRow[] = [
  {
    code: "1",
    means: "not moved",
    failure: "PAYER_SHORT_OF_FUNDS",
    words: "the payer has too little money",
    sources: SAFARICOM,
  },
  { code: "2", ...REFUSED, words: "below the minimum", sources: SAFARICOM },
  { code: "3", ...REFUSED, words: "above the maximum", sources: SAFARICOM },
  { code: "4", ...REFUSED, words: "above the payer's daily limit", sources: SAFARICOM },
  { code: "8", ...REFUSED, words: "the shortcode would hold too much", sources: SAFARICOM },
  {
    code: "17",
    ...REFUSED,
    // Sources differ on it without these words.
    description: /rule/i,
    words: "same payer and amount within two minutes",
    sources: ["safaricom", "paylod", "mcp", "singularity", "daraja"],
  },
  { code: "18", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "20", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "21", ...INITIATOR, words: "the initiator lacks the role", sources: BOTH },
  { code: "22", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "24", ...ASKED_WRONGLY, words: "a field of the request is missing", sources: BOTH },
  { code: "25", ...ASKED_WRONGLY, words: "a field of the request is wrong", sources: BOTH },
  { code: "29", ...ASKED_WRONGLY, words: "the command is wrong", sources: BOTH },
  { code: "1019", means: "not moved", failure: "PAYER_UNREACHABLE", words: "the prompt expired", sources: SAFARICOM },
  {
    code: "1025",
    ...REFUSED,
    words: "the prompt could not be shown, for example because it is too long",
    sources: SAFARICOM,
  },
  {
    code: "1032",
    means: "not moved",
    failure: "CANCELED_BY_PAYER",
    words: "cancelled by the payer",
    sources: SAFARICOM,
  },
  {
    code: "1037",
    means: "not moved",
    failure: "PAYER_UNREACHABLE",
    words: "the phone cannot be reached",
    sources: SAFARICOM,
  },
  { code: "2001", means: "not moved", failure: "WRONG_PIN", words: "wrong PIN", sources: SAFARICOM },
  { code: "2028", ...REFUSED, words: "not permitted for the shortcode", sources: SAFARICOM },
  { code: "8006", ...REFUSED, words: "locked", sources: SAFARICOM },
  {
    code: "SFC_IC0003",
    ...REFUSED,
    words: "no such till or shortcode, or a number of another network",
    sources: SAFARICOM,
  },
  { code: "26", ...UNKNOWN, words: "busy, or blocks traffic", sources: BOTH },
  {
    code: "1001",
    ...UNKNOWN,
    words: "another prompt; too little money; an error",
    sources: ["safaricom", "paylod", "mcp"],
  },
  { code: "1031", ...UNKNOWN, words: "seen in production only", sources: ["production"] },
  { code: "1036", ...UNKNOWN, words: "the network did not acknowledge the prompt in time", sources: ["production"] },
  { code: "2002", ...ASKED_WRONGLY, words: "till and store do not belong together", sources: ["v3"] },
  { code: "2029", ...ASKED_WRONGLY, words: "a till was asked for as a paybill, or the reverse", sources: ["paylod"] },
  { code: "9999", ...UNKNOWN, words: "not sent; or canceled", sources: ["paylod", "mcp"] },
  { code: "E3008", ...UNKNOWN, words: "the sandbox knows no such phone", sources: ["production"] },
  { code: "4999", means: "pending", words: "still under processing", sources: ["safaricom", "production"] },
];

/** Of a payout, to a phone or to a business. */
const OF_PAYOUT: readonly ResultRow[] = [
  {
    code: "1",
    means: "not moved",
    failure: "RAIL_ACCOUNT_SHORT",
    words: "the account that pays has too little money",
    sources: SAFARICOM,
  },
  { code: "2", ...REFUSED, words: "below the minimum", sources: SAFARICOM },
  { code: "3", ...REFUSED, words: "above the maximum", sources: SAFARICOM },
  {
    code: "4",
    means: "not moved",
    failure: "RECIPIENT_LIMIT",
    words: "above the recipient's daily limit",
    sources: SAFARICOM,
  },
  { code: "6", ...ASKED_WRONGLY, words: "a party is not found", sources: ["old", "sdk"] },
  { code: "7", ...ASKED_WRONGLY, words: "a party is not found", sources: ["old", "sdk"] },
  {
    code: "8",
    means: "not moved",
    failure: "RECIPIENT_LIMIT",
    words: "the recipient would hold too much",
    sources: SAFARICOM,
  },
  {
    code: "11",
    ...REFUSED,
    words: "the account that pays is not active, or that of the payee",
    sources: ["safaricom", "mcp", "sdk"],
  },
  { code: "12", ...ASKED_WRONGLY, words: "the kind of a party is wrong", sources: ["old", "sdk"] },
  { code: "13", ...ASKED_WRONGLY, words: "the kind of a party is wrong", sources: ["old", "sdk"] },
  { code: "14", ...ASKED_WRONGLY, words: "the kind of a party is wrong", sources: ["old", "sdk"] },
  { code: "18", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "20", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "21", ...INITIATOR, words: "the initiator lacks the role", sources: SAFARICOM },
  { code: "22", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "24", ...ASKED_WRONGLY, words: "a field of the request is missing", sources: BOTH },
  { code: "25", ...ASKED_WRONGLY, words: "a field of the request is wrong", sources: BOTH },
  { code: "29", ...ASKED_WRONGLY, words: "the command is wrong", sources: BOTH },
  { code: "2001", ...INITIATOR, words: "the initiator is not known, or its password is wrong", sources: SAFARICOM },
  { code: "2006", ...REFUSED, words: "the status of an account forbids it", sources: SAFARICOM },
  { code: "2028", ...REFUSED, words: "not permitted for the shortcode", sources: SAFARICOM },
  {
    code: "2040",
    means: "not moved",
    failure: "RECIPIENT_NOT_REGISTERED",
    words: "the recipient is not registered",
    sources: SAFARICOM,
  },
  {
    code: "SFC_IC0003",
    means: "not moved",
    failure: "RECIPIENT_NOT_REGISTERED",
    words: "no such phone number, or one of another network",
    sources: SAFARICOM,
  },
  { code: "5", ...REFUSED, words: "an account would hold too little", sources: ["sdk"] },
  { code: "9", ...REFUSED, words: "an account may not transact", sources: ["sdk"] },
  { code: "10", ...REFUSED, words: "an account may not transact", sources: ["sdk"] },
  {
    code: "15",
    ...UNKNOWN,
    words: "the id was seen before: this request was not done, an earlier one may be",
    sources: BOTH,
  },
  { code: "17", ...UNKNOWN, words: "an error inside M-Pesa", sources: BOTH },
  { code: "19", ...UNKNOWN, words: "an error inside M-Pesa", sources: BOTH },
  { code: "26", ...UNKNOWN, words: "M-Pesa is busy", sources: BOTH },
  { code: "8006", means: "locked", words: "the initiator is locked", sources: SAFARICOM },
];

/** Of a query, which says nothing of the money: a code ends nothing. */
const OF_QUESTION: readonly ResultRow[] = [
  ...OF_PAYOUT.flatMap(({ code, means, words, sources }) =>
    means === "initiator refused" || means === "locked" ? [{ code, means, words, sources }] : [],
  ),
  { code: "2032", ...UNKNOWN, words: "M-Pesa finds no payment of this receipt", sources: ["production"] },
  {
    code: "2033",
    ...UNKNOWN,
    words: "M-Pesa finds no payment of this id, which may be too old",
    sources: ["production"],
  },
  { code: "24", means: "asked wrongly", words: "the question is malformed", sources: BOTH },
  { code: "25", means: "asked wrongly", words: "the question is malformed", sources: BOTH },
  { code: "R000002", means: "pending", words: "M-Pesa finds no payment yet", sources: SAFARICOM },
];

const OF_REVERSAL: readonly ResultRow[] = [
  { code: "1", ...REFUSED, words: "the account has too little money", sources: SAFARICOM },
  { code: "11", ...REFUSED, words: "an account is not active", sources: SAFARICOM },
  { code: "18", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "20", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "21", ...INITIATOR, words: "the initiator lacks the role", sources: SAFARICOM },
  { code: "22", ...INITIATOR, words: "the initiator is refused", sources: BOTH },
  { code: "2001", ...INITIATOR, words: "the initiator is not known, or its password is wrong", sources: SAFARICOM },
  { code: "2006", ...REFUSED, words: "the status of an account forbids it", sources: SAFARICOM },
  { code: "2028", ...REFUSED, words: "not permitted for the shortcode", sources: SAFARICOM },
  { code: "R000002", ...REFUSED, words: "no such receipt", sources: SAFARICOM },
];

/** ResultCode of a second reversal of the same payment, whoever asked for the first one. */
export const REVERSED_BEFORE = "R000001";

/** Each result that M-Pesa is known to give. One that is not here is unknown. */
export const RESULTS: Readonly<Record<ResultOf, readonly ResultRow[]>> = {
  push: OF_PUSH,
  payout: OF_PAYOUT,
  status: OF_QUESTION,
  balance: OF_QUESTION,
  reversal: OF_REVERSAL,
};

/** What a result says. `failure` is there only if the code ends the order by itself. */
export interface ReadResult {
  readonly means: Means;
  readonly failure: RailFailure | undefined;
  readonly words: string;
}

/** Reads a code other than 0. A code that no two sources settle ends nothing. */
export function readResult(of: ResultOf, code: string, description = ""): ReadResult {
  const row = RESULTS[of].find((known) => known.code === code);
  if (row === undefined) {
    // A question that failed says nothing, and is asked again.
    const means = of === "status" || of === "balance" ? "pending" : "unknown";
    return { means, failure: undefined, words: "no document explains it" };
  }
  if (row.description?.test(description) === false) return { means: "unknown", failure: undefined, words: row.words };
  return { means: row.means, failure: isProven(row.sources) ? row.failure : undefined, words: row.words };
}

/**
 * What a result says of the account, beside the order. The initiator's password is not tried again:
 * M-Pesa locks it (8006) after a few times. A push has no initiator, so there it is the request.
 */
export function faultIn(of: ResultOf, code: string, request: string): RailFault | undefined {
  const { means } = readResult(of, code);
  if (means === "initiator refused" && of !== "push") {
    return { kind: "credentials", credential: "initiator", code };
  }
  const isOurs = means === "asked wrongly" || means === "initiator refused";
  return isOurs ? { kind: "request", request, code } : undefined;
}

/** TransactionStatus in the result of a status query, in upper case. */
export const STATUS_FAILURES: ReadonlyMap<string, RailFailure> = new Map([
  ["CANCELLED", "RAIL_REFUSED"],
  ["DECLINED", "RAIL_REFUSED"],
  ["EXPIRED", "RAIL_REFUSED"],
]);
