import type { RailReceipt } from "./payment.js";
import type { RailFinding } from "./rail-warning.js";
import type { Commanded } from "./second-person.js";
import type { Rail } from "./transaction.js";
import type { Cents } from "./values/cents.js";

/** Raises and clears the warnings of an account at a rail, by what was seen of it. */
export interface WatchRailAccount extends Commanded, Pick<RailFinding, "availableCents" | "unknownPayouts"> {
  readonly name: "watchRailAccount";
  readonly rail: Rail;
}

/** What the command about an account at a rail needs to know of all accounts. It is no content. */
export interface RailFacts {
  /** The state of the accounts of all cells that was read, as `railAccountsOfAll` says it. */
  readonly accountsOfAll: string;
  /** Whether the account has other places at the rail than before. */
  readonly movesPlace: boolean;
}

/** What a rail took for a movement (out), or gave back of that (in). */
export interface RecordCharge extends Commanded {
  readonly name: "recordCharge";
  /** The receipt of the movement. */
  readonly movement: RailReceipt;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
}
