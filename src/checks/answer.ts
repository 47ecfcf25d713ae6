import { type CheckAnswer, type CheckCode, parseCheckCode } from "../domain/payout-check.js";

const DECISIONS = { allow: "ALLOW", hold: "HOLD", deny: "DENY" } as const satisfies Readonly<
  Record<string, CheckAnswer>
>;

/** What a service said. */
export interface ServiceAnswer {
  readonly answer: (typeof DECISIONS)[keyof typeof DECISIONS];
  readonly code: CheckCode | undefined;
}

/**
 * Reads the body of an answer: a JSON object with `decision`, and with `code` if the service says
 * why. Returns undefined for anything else: other fields may be a restriction that nobody would
 * obey, and of a field twice, one program means the first value and another one the last.
 */
export function readAnswer(body: string): ServiceAnswer | undefined {
  const { decision, code, ...others } = objectIn(body) ?? {};
  const isKnown = typeof decision === "string" && Object.hasOwn(DECISIONS, decision);
  if (!isKnown || Object.keys(others).length > 0) return undefined;
  const answer = DECISIONS[decision as keyof typeof DECISIONS];
  if (code === undefined) return { answer, code };
  const parsed = typeof code === "string" ? parseCheckCode(code) : undefined;
  return parsed?.ok === true ? { answer, code: parsed.value } : undefined;
}

function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    // None of the words has a blank or needs an escape. JSON.parse drops the first of equal fields.
    const isOnce = JSON.stringify(value) === body.replaceAll(/\s/g, "");
    return isOnce && typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
