import type { OrganizationId } from "./values/ids.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
import type { UnixMillis } from "./values/time.js";

/** What it means that the service of the organization gives no answer in time. */
export const NO_ANSWERS = ["HOLD", "ALLOW"] as const;
export type NoAnswer = (typeof NO_ANSWERS)[number];

/** How an organization checks its payouts. */
export interface CheckRules {
  /** Where the service is asked. It has no query, so that no secret stands in it. */
  readonly url: string;
  /** How long the service has for its answer, from the first request. */
  readonly deadlineSeconds: number;
  readonly noAnswer: NoAnswer;
}

/** The check of an organization's payouts, as the newest journal row about it sets it. */
export interface PayoutCheck extends CheckRules {
  readonly organizationId: OrganizationId;
  /** The number of that row. The secret that signs the requests follows from it. */
  readonly seq: number;
  readonly recordedAt: UnixMillis;
}

/** Three requests of five seconds fit into the shortest one. */
export const DEADLINE_SECONDS_MIN = 15;
export const DEADLINE_SECONDS_MAX = 3_600;

export function parseDeadline(unchecked: number): Parsed<number> {
  const isWithin = unchecked >= DEADLINE_SECONDS_MIN && unchecked <= DEADLINE_SECONDS_MAX;
  if (Number.isInteger(unchecked) && isWithin) return parsed(unchecked);
  const range = `${String(DEADLINE_SECONDS_MIN)} to ${String(DEADLINE_SECONDS_MAX)}`;
  return unparsed(`must be a whole number from ${range}`, "OUT_OF_RANGE");
}

/** Returns the detail of the row that sets the check. */
export function detailOfCheck({ url, deadlineSeconds, noAnswer }: CheckRules): string {
  return JSON.stringify([url, deadlineSeconds, noAnswer]);
}

/** Reads the detail that `detailOfCheck` made. */
export function readCheck(detail: string): CheckRules {
  const [url, deadlineSeconds, noAnswer] = JSON.parse(detail) as readonly [string, number, NoAnswer];
  return { url, deadlineSeconds, noAnswer };
}

/** What came of a check. NO_ANSWER: the service gave none in time. */
export const CHECK_ANSWERS = ["ALLOW", "HOLD", "DENY", "NO_ANSWER"] as const;
export type CheckAnswer = (typeof CHECK_ANSWERS)[number];

/** The word with which a service says why. It is no personal data, so the book keeps it. */
export type CheckCode = string & { readonly brand: unique symbol };

/** With a letter first: so no phone number is one. */
const CODE = /^[A-Z][A-Z0-9_]{0,39}$/;

export function parseCheckCode(unchecked: string): Parsed<CheckCode> {
  return CODE.test(unchecked)
    ? parsed(unchecked as CheckCode)
    : unparsed("must be 1 to 40 characters from A-Z, 0-9 and _, and begin with a letter");
}

/** What a row `transaction.checked` says. */
export interface CheckOutcome {
  readonly answer: CheckAnswer;
  /** What the answer, or its absence, has come to. */
  readonly result: Exclude<CheckAnswer, "NO_ANSWER">;
  readonly code: CheckCode | undefined;
  /** The SHA-256 of the request and its answer, in hexadecimal. The request has a random salt. */
  readonly exchangeSha256: string | undefined;
}

const NONE = "-";

/** Returns the detail of the row. It has no personal data. */
export function detailOfChecked({ answer, result, code, exchangeSha256 }: CheckOutcome): string {
  return [answer, result, code ?? NONE, exchangeSha256 ?? NONE].join(" ");
}
