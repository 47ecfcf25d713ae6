import { UNCONFIRMED } from "../domain/payment.js";
import type { PaymentRail } from "./rail.js";

/** What tells a code of the rail about an order: it has the place where the rail said it. */
export interface ToldCode {
  readonly code: string;
  /** A path at the rail, or a kind of message. Undefined for a code that tells nothing lasting. */
  readonly place?: string | undefined;
}

/** Returns the text that a payment stores: "2033 status", or a code alone. */
export function storedCode({ code, place }: ToldCode): string {
  return place === undefined ? code : `${code} ${place}`;
}

/** Reads what a payment has stored. */
export function toldCodeOf(stored: string): ToldCode {
  const [code = "", ...place] = stored.split(" ");
  return place.length === 0 ? { code } : { code, place: place.join(" ") };
}

/**
 * Returns the code that a payment keeps. The first code with a place stays, whatever a later
 * question finds. Only an outcome that the rail has called takes its place.
 */
export function keptCode(before: string | undefined, next: string): string {
  const isKept = before?.includes(" ") === true && !next.endsWith(` ${UNCONFIRMED}`);
  return isKept ? before : next;
}

/** Whether the rail has called the outcome of the payment: only a confirmation is missing. */
export function isCalled(stored: string | undefined): boolean {
  return stored?.endsWith(` ${UNCONFIRMED}`) === true;
}

/** Says what a code means, if the rail can: the words, with the code and its place. */
export function wordsOf({ explain }: Pick<PaymentRail, "explain">, { code, place }: ToldCode): string {
  return (place === undefined ? undefined : explain?.(code, place)) ?? code;
}
