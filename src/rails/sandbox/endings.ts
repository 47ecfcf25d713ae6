import type { RailFailure } from "../../domain/payment.js";
import type { TransactionType } from "../../domain/transaction.js";

/** What the sandbox does with an order whose phone number ends with these two digits. */
export interface SandboxEnding {
  readonly digits: string;
  /** Whether nobody sends the order until somebody advances it. */
  readonly isHeld: boolean;
  /** How the sandbox answers the request. */
  readonly answer: "accepted" | "rejected" | "unreached_at_first" | "unknown";
  /** The reason of its failures. */
  readonly failure: Readonly<Record<TransactionType, RailFailure>>;
  /** What happens after the request, in this order. */
  readonly steps: readonly SandboxStep[];
}

export interface SandboxStep {
  readonly outcome: "succeeded" | "failed" | "succeeded_with_other_amount";
  /** The time since the request. At Infinity, the step waits until somebody advances the order. */
  readonly afterMillis: number;
  /** How many messages report it. Without one, only a query finds out. */
  readonly messages: 0 | 1 | 2;
}

const SOON_MILLIS = 1_000;
const SLOW_MILLIS = 60_000;
const LATE_MILLIS = 120_000;

const REFUSED = { MINT: "RAIL_REFUSED", REDEEM: "RAIL_REFUSED" } as const;
const EXPIRED = { MINT: "PAYER_UNREACHABLE", REDEEM: "RAIL_REFUSED" } as const;
const SUCCEEDED: SandboxStep = { outcome: "succeeded", afterMillis: SOON_MILLIS, messages: 1 };
const FAILED: SandboxStep = { outcome: "failed", afterMillis: SOON_MILLIS, messages: 1 };

function ending(digits: string, given: Partial<SandboxEnding>): SandboxEnding {
  return { digits, isHeld: false, answer: "accepted", failure: REFUSED, steps: [SUCCEEDED], ...given };
}

function failing(digits: string, MINT: RailFailure, REDEEM: RailFailure): SandboxEnding {
  return ending(digits, { failure: { MINT, REDEEM }, steps: [FAILED] });
}

/** The ending of every phone number that ends with no digits of another. */
export const USUAL_ENDING: SandboxEnding = ending("00", {});

/** All endings. docs/sandbox.md describes each. */
export const ENDINGS: readonly SandboxEnding[] = [
  USUAL_ENDING,
  failing("01", "CANCELED_BY_PAYER", "RECIPIENT_NOT_REGISTERED"),
  failing("02", "PAYER_UNREACHABLE", "RECIPIENT_LIMIT"),
  failing("03", "PAYER_SHORT_OF_FUNDS", "RAIL_ACCOUNT_SHORT"),
  failing("04", "WRONG_PIN", "RAIL_REFUSED"),
  ending("05", { steps: [{ ...SUCCEEDED, messages: 0 }] }),
  ending("06", { steps: [{ ...SUCCEEDED, messages: 2 }] }),
  failing("07", "PAYER_UNREACHABLE", "RAIL_REFUSED"),
  ending("08", { answer: "unknown", steps: [{ ...SUCCEEDED, messages: 0 }] }),
  ending("09", { answer: "unreached_at_first" }),
  // A query says so, too: the answer may be lost with the server that asked.
  ending("10", { answer: "rejected", steps: [{ ...FAILED, afterMillis: 0, messages: 0 }] }),
  ending("11", { steps: [{ ...SUCCEEDED, afterMillis: SLOW_MILLIS }] }),
  ending("12", { failure: EXPIRED, steps: [FAILED, { ...SUCCEEDED, afterMillis: LATE_MILLIS }] }),
  ending("13", { steps: [{ ...SUCCEEDED, afterMillis: Infinity }] }),
  ending("14", { steps: [{ ...FAILED, afterMillis: Infinity }] }),
  ending("15", { answer: "unknown", steps: [] }),
  ending("16", { steps: [{ ...SUCCEEDED, outcome: "succeeded_with_other_amount" }] }),
  ending("17", { isHeld: true }),
];
