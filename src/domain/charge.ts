import type { Posting } from "./journal.js";
import type { Cents } from "./values/cents.js";

/** Records what a rail took (out), what it gave back, or what was put in for charges (in). */
export function chargePosting(direction: "in" | "out", amountCents: Cents): Posting {
  return direction === "out"
    ? { debit: "charges", credit: "reserve", amountCents }
    : { debit: "reserve", credit: "charges", amountCents };
}
