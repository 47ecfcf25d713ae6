import { isOfCharges } from "../domain/receipt.js";
import type { Break, RailMovementRow } from "./reconciliation.js";

/** The act of an operator that can end a difference, by the name of its rpc. */
export type Remedy = "ResolveTransaction" | "RecordDeposit" | "BookPayment" | "ExplainTransfer" | "AdjustMovement";

/** Returns the acts that can end a difference, likeliest first. None if only the rail can say. */
export function remediesOf({ kind, rail }: Break): readonly Remedy[] {
  switch (kind) {
    case "missing_in_ledger":
      // The statement itself books a charge.
      if (rail === undefined || isOfCharges(rail.receipt)) return [];
      return missingRemedies(rail);
    case "missing_on_rail":
      return ["AdjustMovement"];
    case "amount_differs":
      return rail !== undefined && isOfCustomer(rail) ? ["AdjustMovement"] : [];
    case "double":
      return [];
  }
}

function missingRemedies(rail: RailMovementRow): readonly Remedy[] {
  switch (rail.kind) {
    case "unknown":
    case "charge":
      return [];
    case "own_transfer":
      return ["ExplainTransfer"];
    case "reversal":
      return [];
    case "pay_in":
    case "payout":
      if (rail.transaction?.status === "PROCESSING") return ["ResolveTransaction"];
      return rail.direction === "in" ? ["RecordDeposit", "ExplainTransfer"] : ["ExplainTransfer", "BookPayment"];
  }
}

/** Whether an account may be changed because of the row. */
export function isOfCustomer({ kind }: Pick<RailMovementRow, "kind">): boolean {
  return kind === "pay_in" || kind === "payout" || kind === "reversal";
}
