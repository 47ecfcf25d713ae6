import type { RailFailure } from "../../domain/payment.js";

// The lists of final failures. A code that is not here leaves the payment open: it is asked about
// again, and a person decides in the end. docs/mpesa.md says what each code means.

/** ResultCode of an STK push, in its callback and in the answer to the STK query. */
export const COLLECT_FAILURES: ReadonlyMap<string, RailFailure> = new Map([
  ["1", "PAYER_SHORT_OF_FUNDS"],
  ["2", "RAIL_REFUSED"],
  ["3", "RAIL_REFUSED"],
  ["4", "RAIL_REFUSED"],
  ["8", "RAIL_REFUSED"],
  ["17", "RAIL_REFUSED"],
  ["1019", "PAYER_UNREACHABLE"],
  ["1025", "RAIL_REFUSED"],
  ["1032", "CANCELED_BY_PAYER"],
  ["1037", "PAYER_UNREACHABLE"],
  ["2001", "WRONG_PIN"],
  ["2028", "RAIL_REFUSED"],
  ["8006", "RAIL_REFUSED"],
  ["SFC_IC0003", "RAIL_REFUSED"],
]);

/**
 * ResultCode of a push that was seen to end it unpaid. Safaricom's table lacks these codes, and
 * other tables give them different meanings. So they decide nothing, and a person looks at once.
 */
export const UNCLEAR_COLLECTS: ReadonlySet<string> = new Set(["26", "1001", "9999", "E3008"]);

/** ResultCode in the result of a B2C payment. */
export const PAY_OUT_FAILURES: ReadonlyMap<string, RailFailure> = new Map([
  ["1", "RAIL_ACCOUNT_SHORT"],
  ["2", "RAIL_REFUSED"],
  ["3", "RAIL_REFUSED"],
  ["4", "RECIPIENT_LIMIT"],
  ["8", "RECIPIENT_LIMIT"],
  ["11", "RAIL_REFUSED"],
  ["21", "RAIL_REFUSED"],
  ["2001", "RAIL_REFUSED"],
  ["2006", "RAIL_REFUSED"],
  ["2028", "RAIL_REFUSED"],
  ["2040", "RECIPIENT_NOT_REGISTERED"],
  ["SFC_IC0003", "RECIPIENT_NOT_REGISTERED"],
]);

/** ResultCode in the result of a reversal: M-Pesa has moved nothing because of the request. */
export const REVERSAL_FAILURES: ReadonlySet<string> = new Set(["1", "11", "21", "2001", "2006", "2028", "R000002"]);

/** ResultCode of a second reversal of the same payment, whoever asked for the first one. */
export const REVERSED_BEFORE = "R000001";

/** TransactionStatus in the result of a status query, in upper case. */
export const STATUS_FAILURES: ReadonlyMap<string, RailFailure> = new Map([
  ["CANCELLED", "RAIL_REFUSED"],
  ["DECLINED", "RAIL_REFUSED"],
  ["EXPIRED", "RAIL_REFUSED"],
]);

/** A refusal in the answer to the request itself: Daraja took nothing of it. */
export interface RefusedRequest {
  readonly code: string;
  /** Some codes have several meanings, which only the message tells apart. */
  readonly message: RegExp;
  /** After this time the same request can succeed. Undefined: it never will. */
  readonly retryAfterMillis: number | undefined;
}

const INVALID_FIELD: readonly RefusedRequest[] = [
  { code: "400.002.02", message: /invalid/i, retryAfterMillis: undefined },
];

export const REFUSED_COLLECTS: readonly RefusedRequest[] = [
  ...INVALID_FIELD,
  { code: "500.001.1001", message: /merchant does not exist|wrong credentials/i, retryAfterMillis: undefined },
  // The payer has another prompt open. M-Pesa unlocks the payer after a minute.
  { code: "500.001.1001", message: /unable to lock subscriber/i, retryAfterMillis: 60_000 },
];

export const REFUSED_PAY_OUTS: readonly RefusedRequest[] = INVALID_FIELD;
export const REFUSED_REVERSALS: readonly RefusedRequest[] = INVALID_FIELD;
