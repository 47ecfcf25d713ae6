import type { ReserveFigure } from "../../domain/reserve.js";
import type { BankBalance } from "./bank-statement.js";

/**
 * How the closing balance stands to the figures of the place:
 *
 * - agrees, differs: a figure is of the same day.
 * - unrecorded: no figure is of the day, nor of a later one.
 * - later: no figure is of the day, and the last one is of a later day.
 * - overdrawn: nobody can record less than nothing.
 */
export const CLOSING_STATES = ["agrees", "differs", "unrecorded", "later", "overdrawn"] as const;
export type ClosingState = (typeof CLOSING_STATES)[number];

export interface ComparedClosing<Figure extends ReserveFigure = ReserveFigure> {
  readonly state: ClosingState;
  readonly balance: BankBalance;
  /** The figure of the day, or else the last one of the place. */
  readonly figure: Figure | undefined;
}

interface Figures<Figure> {
  /** The one that holds at the end of the day of the balance. */
  readonly known: Figure | undefined;
  /** The last one of the place. */
  readonly last: Figure | undefined;
}

/** Compares the closing balance of a bank with what was recorded of the place. */
export function comparedClosing<Figure extends ReserveFigure>(
  balance: BankBalance,
  { known, last }: Figures<Figure>,
): ComparedClosing<Figure> {
  const ofDay = known?.asOfDay === balance.day ? known : undefined;
  return { state: stateOf(balance, { known: ofDay, last }), balance, figure: ofDay ?? last };
}

function stateOf({ cents, day }: BankBalance, { known, last }: Figures<ReserveFigure>): ClosingState {
  if (cents < 0) return "overdrawn";
  if (known !== undefined) return known.amountCents === cents ? "agrees" : "differs";
  return last !== undefined && last.asOfDay > day ? "later" : "unrecorded";
}

/** Whether the book lacks the closing balance, or has another one. */
export function closingDiffers(closing: Pick<ComparedClosing, "state"> | undefined): boolean {
  return closing !== undefined && closing.state !== "agrees" && closing.state !== "later";
}
