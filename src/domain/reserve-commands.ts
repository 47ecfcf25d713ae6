import type { ReserveFigure, ReserveRule } from "./reserve.js";
import type { Authorized } from "./second-person.js";
import type { StatusReason } from "./values/text.js";

/** What a figure of the reserve can lack. Without a kind it is `other`. */
type ReserveTerms = Pick<ReserveFigure, "kind" | "documentSha256" | "maturesOn">;

/** Records what lies in one place. */
export interface RecordReserve extends Authorized, Omit<ReserveFigure, keyof ReserveTerms>, Partial<ReserveTerms> {
  readonly name: "recordReserve";
  readonly note: StatusReason;
}

/** Sets the rules of the reserve, in place of all earlier ones. */
export interface SetReserveRules extends Authorized {
  readonly name: "setReserveRules";
  readonly rules: readonly ReserveRule[];
  readonly note: StatusReason;
}
