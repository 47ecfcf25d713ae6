import type { ReserveFigure } from "../../domain/reserve.js";
import type { BankBalance } from "./bank-statement.js";

/**
 * How the closing balance stands to the last figure of the place:
 *
 * - agrees, differs: the figure is of the same day.
 * - unrecorded: there is no figure of the day, nor of a later one.
 * - later: the last figure is of a later day, so nothing is compared.
 * - overdrawn: nobody can record less than nothing.
 */
export type ClosingState = "agrees" | "differs" | "unrecorded" | "later" | "overdrawn";

export interface ComparedClosing {
  readonly state: ClosingState;
  readonly balance: BankBalance;
  /** The last figure of the place. */
  readonly figure: ReserveFigure | undefined;
}

/** Compares the closing balance of a bank with what was last recorded of the place. */
export function comparedClosing(balance: BankBalance, figure: ReserveFigure | undefined): ComparedClosing {
  return { state: stateOf(balance, figure), balance, figure };
}

function stateOf({ cents, day }: BankBalance, figure: ReserveFigure | undefined): ClosingState {
  if (figure !== undefined && figure.asOfDay > day) return "later";
  if (cents < 0) return "overdrawn";
  if (figure === undefined || figure.asOfDay < day) return "unrecorded";
  return figure.amountCents === cents ? "agrees" : "differs";
}
