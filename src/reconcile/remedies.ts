import { isOfCharges } from "../domain/receipt.js";
import type { Break } from "./reconciliation.js";

/** The act of an operator that can end a difference, by the name of its rpc. */
export type Remedy = "ResolveTransaction" | "RecordDeposit" | "BookPayment" | "ExplainTransfer" | "AdjustMovement";

/** Returns the acts that can end a difference, likeliest first. None if only the rail can say. */
export function remediesOf({ kind, rail }: Break): readonly Remedy[] {
  switch (kind) {
    case "missing_in_ledger":
      // The statement itself books a charge.
      if (rail === undefined || isOfCharges(rail.receipt)) return [];
      if (rail.transaction?.status === "PROCESSING") return ["ResolveTransaction"];
      return rail.direction === "in" ? ["RecordDeposit", "ExplainTransfer"] : ["ExplainTransfer", "BookPayment"];
    case "missing_on_rail":
    case "amount_differs":
      return ["AdjustMovement"];
    case "double":
      return [];
  }
}
