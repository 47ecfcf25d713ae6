import { type LostNight, lostNight } from "./lost-night.js";
import type { BookedMovements } from "./ports.js";
import { reconcile, type Reconciled } from "./reconcile.js";
import type { Break, ReconciledPeriod } from "./reconciliation.js";
import { StatementError } from "./statement-error.js";
import { type StatementFacts, statementMovements } from "./statement-movements.js";
import { type ExplainedTie, explainedTie, type Tie } from "./tie.js";

/** A statement, compared with a book. */
export interface ComparedStatement {
  readonly facts: StatementFacts;
  readonly period: ReconciledPeriod;
  readonly reconciled: Reconciled;
  /** Those of the movements, and then those of the charges. */
  readonly breaks: readonly Break[];
  /** Undefined until the rail has told a balance. */
  readonly tie: ExplainedTie | undefined;
  readonly night: LostNight;
}

interface CompareOptions extends Partial<ReconciledPeriod> {
  readonly book: BookedMovements;
  readonly tie: Tie | undefined;
}

/**
 * Compares a statement with a book, in the period that is given, or from the first to the last
 * movement of the statement. Changes nothing. Rejects with a StatementError.
 */
export async function compareStatement(
  facts: StatementFacts,
  { book, tie, from, to }: CompareOptions,
): Promise<ComparedStatement> {
  const period = (): ReconciledPeriod | undefined => {
    const start = from ?? facts.period?.from;
    const end = to ?? facts.period?.to;
    return start === undefined || end === undefined ? undefined : { from: start, to: end };
  };
  const reconciled = await reconcile(statementMovements(facts), book, { period, tieAt: tie?.at });
  const compared = period();
  if (compared === undefined || compared.from > compared.to) {
    // Without a movement and without a period, nothing was compared: that is no agreement.
    const found = reconciled.movements.onRail.count === 0 ? "has no movement" : "ends before it begins";
    throw new StatementError(`It ${found}, so there is no period to compare. Give the period of the statement.`);
  }
  const open = await book.openPayouts();
  const night = lostNight({ rows: facts.rows, breaks: reconciled.movements.breaks, open });
  const breaks = [...reconciled.movements.breaks, ...reconciled.charges.breaks];
  return { facts, period: compared, reconciled, breaks, tie: tie && explainedTie(tie, reconciled), night };
}
