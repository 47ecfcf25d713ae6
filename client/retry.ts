import { setTimeout as sleep } from "node:timers/promises";

import type { KescError } from "./kesc-error.js";

const FIRST_REST_MILLIS = 100;
const REST_MILLIS_MAX = 5_000;

// Every refusal of the service has a reason, so the connection, or a proxy, made an error without.
const OF_THE_CONNECTION: readonly KescError["code"][] = ["UNAVAILABLE", "INTERNAL", "CANCELLED", "UNKNOWN"];

/** Whether nobody knows if the service has executed the call. */
export function isUnanswered({ code, reason }: KescError): boolean {
  return reason === undefined && (code === "DEADLINE_EXCEEDED" || OF_THE_CONNECTION.includes(code));
}

/** Whether the same call may succeed soon. */
export function isWorthAnotherTry({ code, reason, retryAfterMillis }: KescError): boolean {
  if (code === "UNAVAILABLE" || retryAfterMillis !== undefined) return true;
  return reason === undefined && OF_THE_CONNECTION.includes(code);
}

/**
 * Rests as long as the service advises, or longer after each try, at random so that many clients do
 * not return together. Returns false at once if the next try would come after the deadline. Throws
 * when the signal aborts.
 */
export async function restBefore(
  tries: number,
  given: { readonly failure?: KescError; readonly deadline: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const { failure, deadline, signal } = given;
  const backOff = Math.random() * Math.min(REST_MILLIS_MAX, FIRST_REST_MILLIS * 2 ** tries);
  const millis = (failure?.retryAfterMillis ?? 0) + backOff;
  if (Date.now() + millis >= deadline) return false;
  await sleep(millis, undefined, { signal });
  return true;
}
