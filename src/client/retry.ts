import { setTimeout as sleep } from "node:timers/promises";

import type { KescError } from "./kesc-error.js";

const FIRST_REST_MILLIS = 100;
const REST_MILLIS_MAX = 5_000;

/** Whether the same call may succeed soon. */
export function isWorthAnotherTry({ code, retryAfterMillis }: KescError): boolean {
  return code === "UNAVAILABLE" || retryAfterMillis !== undefined;
}

/**
 * Rests as long as the service advises, or longer after each try, at random so that many clients do
 * not return together. Returns false at once if the next try would come after the deadline.
 */
export async function restBefore(
  tries: number,
  given: { readonly failure: KescError; readonly deadline: number; readonly signal: AbortSignal | undefined },
): Promise<boolean> {
  const { failure, deadline, signal } = given;
  const backOff = Math.random() * Math.min(REST_MILLIS_MAX, FIRST_REST_MILLIS * 2 ** tries);
  const millis = (failure.retryAfterMillis ?? 0) + backOff;
  if (Date.now() + millis >= deadline) return false;
  await sleep(millis, undefined, signal === undefined ? {} : { signal });
  return true;
}
