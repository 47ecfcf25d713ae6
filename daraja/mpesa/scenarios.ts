import type { ResultCode } from "./results.js";

/** When the payer answers the prompt, and when a payout is paid. */
const ANSWERED_AFTER_MILLIS = 5_000;
/** How long the prompt stays on the handset. */
export const PROMPT_MILLIS = 60_000;
/** When money moves although the rail has said before that it does not. */
const LATE_MILLIS = 180_000;
/** When the result of a query comes, and that of a request that M-Pesa refuses at once. */
export const RESULT_AFTER_MILLIS = 2_000;
/** When a prompt fails before it was shown. */
const AT_ONCE_MILLIS = 500;
/** When a forger sends a message. */
export const FORGED_AFTER_MILLIS = 1_000;
/** When a payment by hand is confirmed and listed in scenario 11. */
const HAND_LATE_MILLIS = 60_000;
/** How many queries find the order open in scenario 11. */
const PENDING_QUERIES = 3;

/** What happens to one order, by the last two digits of the customer's phone number. */
export interface Scenario {
  /** For people: the page, `kesc daraja` and docs/daraja.md. */
  readonly words: string;
  /** What the gateway does with the first request for the number, in place of accepting it. */
  readonly refusedOnce?: "spike arrest" | "invalid token" | "too many requests" | "expired token" | "firewall";
  /** Whether the gateway refuses each request for the number: the app lacks the product. */
  readonly isWithoutProduct?: true;
  /** What becomes of the answer to the accepted request. */
  readonly answer?: "after the callback" | "lost" | "malformed" | "error" | "cached";
  readonly steps: readonly Step[];
  /** The order stays open until so many queries have asked for it; then it is paid. */
  readonly pendingQueries?: number;
  /** The code in the result of each query, whatever became of the order. */
  readonly queriesSay?: ResultCode;
  /** What becomes of the callback after each step; by default it is sent once. */
  readonly callback?: "never" | "twice" | "malformed" | "timeout";
  /** A forger claims success: at an address with a wrong token, or at the right one. */
  readonly forged?: "wrong token" | "right token";
}

export type Step =
  | { afterMillis: number; kind: "pay" }
  | { afterMillis: number; kind: "fail"; code: ResultCode; status?: "Declined" | "Expired" };

const PAID: Step = { afterMillis: ANSWERED_AFTER_MILLIS, kind: "pay" };
const PAID_LATE: Step = { afterMillis: LATE_MILLIS, kind: "pay" };

function failed(code: ResultCode, afterMillis = ANSWERED_AFTER_MILLIS): Step {
  return { afterMillis, kind: "fail", code };
}

const SUCCESS: Scenario = { words: "success", steps: [PAID] };

/** The scenarios that are the same for both directions. */
const BOTH: Readonly<Record<string, Scenario>> = {
  "00": SUCCESS,
  "05": { words: "success, and the callback is lost", steps: [PAID], callback: "never" },
  "06": { words: "success, and the callback comes twice", steps: [PAID], callback: "twice" },
  "07": {
    words: "success, and the callback comes before the answer",
    steps: [{ ...PAID, afterMillis: 0 }],
    answer: "after the callback",
  },
  "08": { words: "success, and the answer to the request is lost", steps: [PAID], answer: "lost" },
  "09": { words: "500.003.02 (spike arrest) once, then success", steps: [PAID], refusedOnce: "spike arrest" },
  "10": { words: "the token becomes invalid once, then success", steps: [PAID], refusedOnce: "invalid token" },
  "11": { words: "open for three queries, then success", steps: [], pendingQueries: PENDING_QUERIES },
  "15": { words: "success, and the callback is malformed JSON", steps: [PAID], callback: "malformed" },
  "17": { words: "success, and the answer is malformed JSON", steps: [PAID], answer: "malformed" },
  "19": { words: "success, and the answer is HTTP 500", steps: [PAID], answer: "error" },
  "20": { words: "401.003.01, the app lacks the product", steps: [], isWithoutProduct: true },
  "21": {
    words: "401 in Apigee's form (the token has expired) once, then success",
    steps: [PAID],
    refusedOnce: "expired token",
  },
  "22": { words: "403 and a page of the firewall once, then success", steps: [PAID], refusedOnce: "firewall" },
  "24": { words: "429 (too many requests) once, then success", steps: [PAID], refusedOnce: "too many requests" },
  "28": { words: "success, and the answer is 100000000 (cached, sent on later)", steps: [PAID], answer: "cached" },
};

/** STK push, by the ending of PhoneNumber. Other endings are a success. */
export const COLLECT: Readonly<Record<string, Scenario>> = {
  ...BOTH,
  "01": { words: "1032, canceled by the payer", steps: [failed("1032")] },
  "02": { words: "1037, the phone cannot be reached", steps: [failed("1037", PROMPT_MILLIS)] },
  "03": { words: "1, the payer has too little money", steps: [failed("1")] },
  "04": { words: "2001, wrong PIN", steps: [failed("2001")] },
  "12": { words: "1019 (expired) after 60 s, paid after 180 s", steps: [failed("1019", PROMPT_MILLIS), PAID_LATE] },
  "16": { words: "1032, and a forged success, wrong token", steps: [failed("1032")], forged: "wrong token" },
  "18": {
    words: "1032, and in its place a forged success, right token",
    steps: [failed("1032")],
    callback: "never",
    forged: "right token",
  },
  "24": {
    words: "429 (too many requests) once, and at the first query, then success",
    steps: [PAID],
    refusedOnce: "too many requests",
  },
  "23": { words: "1037, and each query says 0", steps: [failed("1037", PROMPT_MILLIS)], queriesSay: "0" },
  "25": { words: "1025, the prompt cannot be sent", steps: [failed("1025")] },
  "26": { words: "1031, which no document explains", steps: [failed("1031")] },
  "27": { words: "1036, the SMSC timed out", steps: [failed("1036")] },
  "29": { words: "2029 within a second, a till asked for as a paybill", steps: [failed("2029", AT_ONCE_MILLIS)] },
};

/** B2C, by the ending of PartyB. Other endings are a success. */
export const PAY_OUT: Readonly<Record<string, Scenario>> = {
  ...BOTH,
  "01": { words: "2040, the recipient is not registered", steps: [failed("2040")] },
  "02": { words: "8, the recipient's balance would be too large", steps: [failed("8")] },
  "03": { words: "1, the utility account has too little money", steps: [failed("1")] },
  "04": { words: "2001, the initiator is invalid", steps: [failed("2001")] },
  "12": {
    words: "2006 and status Expired after 5 s, paid after 180 s",
    steps: [{ afterMillis: ANSWERED_AFTER_MILLIS, kind: "fail", code: "2006", status: "Expired" }, PAID_LATE],
  },
  "13": { words: "success, and only the queue's timeout is reported", steps: [PAID], callback: "timeout" },
  "14": { words: "declined, which only a status query tells", steps: [failed("2006")], callback: "never" },
  "16": { words: "2040, and a forged success, wrong token", steps: [failed("2040")], forged: "wrong token" },
  "18": {
    words: "2040, and in its place a forged success, right token",
    steps: [failed("2040")],
    callback: "never",
    forged: "right token",
  },
  "26": { words: "never paid, which no message and only 2033 of a status query tells", steps: [], queriesSay: "2033" },
  "29": { words: "15, the id was seen before", steps: [failed("15")] },
};

export function scenarioOf(scenarios: Readonly<Record<string, Scenario>>, msisdn: string): Scenario {
  return scenarios[msisdn.slice(-2)] ?? SUCCESS;
}

/** What happens to one payment without a prompt, by the last two digits of the payer's phone. */
export interface HandScenario {
  readonly words: string;
  /** What becomes of the confirmation; by default it is sent once. */
  readonly confirmation?: "never" | "twice";
  /** How long the payment is neither confirmed nor listed. */
  readonly lateMillis?: number;
  /** What a list shows in place of what was paid. */
  readonly listed?: { readonly extraCents?: number; readonly accountReference?: string };
  /** What is lost when the business asks to reverse the payment; by default nothing. */
  readonly reversalLoses?: "the answer" | "the result";
  /** No money moves, and a forger sends a confirmation. */
  readonly isForged?: true;
}

/** Payments without a prompt, by the ending of the payer's phone. Other endings are a success. */
export const BY_HAND: Readonly<Record<string, HandScenario>> = {
  "05": { words: "success, and the confirmation is lost", confirmation: "never" },
  "06": { words: "success, and the confirmation comes twice", confirmation: "twice" },
  "07": { words: "no payment, and a forged confirmation", isForged: true },
  "08": { words: "success, and a reversal's answer is lost", reversalLoses: "the answer" },
  "11": { words: "success, confirmed and listed after 60 s", lateMillis: HAND_LATE_MILLIS },
  "15": { words: "success, and a reversal's result is lost", reversalLoses: "the result" },
  "16": { words: "success, and the list shows 1 shilling more", listed: { extraCents: 100 } },
  "17": {
    words: "success, and the list shows another reference",
    listed: { accountReference: "ANOTHER" },
  },
};

export function handScenarioOf(msisdn: string): HandScenario {
  return BY_HAND[msisdn.slice(-2)] ?? { words: "success" };
}
