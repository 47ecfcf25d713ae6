import type { Posting } from "./journal.js";
import type { RailReceipt } from "./payment.js";
import type { Commanded } from "./second-person.js";
import type { Cents } from "./values/cents.js";

/** What a rail took for a movement (out), or gave back of that (in). */
export interface RecordCharge extends Commanded {
  readonly name: "recordCharge";
  /** The receipt of the movement. */
  readonly movement: RailReceipt;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
}

/** Records what a rail took (out), what it gave back, or what was put in for charges (in). */
export function chargePosting(direction: "in" | "out", amountCents: Cents): Posting {
  return direction === "out"
    ? { debit: "charges", credit: "reserve", amountCents }
    : { debit: "reserve", credit: "charges", amountCents };
}
