import type { BookSums } from "../domain/book.js";
import { owedCents, seenReserve } from "../domain/reserve.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { type History, sumsAsOf } from "../statements/as-of.js";
import type { RecordedFigure, ReportedBalance } from "../statements/ports.js";
import type { Reconciled } from "./reconcile.js";

/** What the rail says that its accounts hold, and what the book says, at the same moment. */
export interface Tie {
  readonly at: UnixMillis;
  readonly railAccounts: readonly ReportedBalance[];
  readonly places: readonly RecordedFigure[];
  /** The sums of the book at that moment. */
  readonly sums: BookSums;
}

/** Reads both sides of the tie. Undefined until the rail has told a balance. */
export async function readTie(history: History, rail: string): Promise<Tie | undefined> {
  const { organizationId, reads, inTurn } = history;
  const balances = await reads.railBalances(organizationId);
  const railAccounts = balances.filter((each) => each.rail === rail && each.currency === "KES");
  const at = railAccounts[0]?.reportedAt;
  if (at === undefined) return undefined;
  const places = await reads.reserveHoldings(organizationId);
  const { seq } = await inTurn(() => reads.position(organizationId, { before: toUnixMillis(at + 1) }));
  const { sums } = await sumsAsOf(history, seq);
  return { at, railAccounts, places, sums };
}

/** A tie, and what explains its difference. What is left nobody can explain. */
export interface ExplainedTie extends Tie {
  readonly differenceCents: bigint;
  readonly owedCents: bigint;
  /** What one side had a moment earlier than the other. */
  readonly byTimeCents: bigint;
  readonly byBreaksCents: bigint;
  readonly unexplainedCents: bigint;
}

/**
 * Compares what lies at the rail and in other places with what is owed. What the book knows to be
 * missing, a shortfall and charges, is part of the difference.
 */
export function explainedTie(tie: Tie, { movements, charges }: Reconciled): ExplainedTie {
  const { railAccounts: balances, places, sums } = tie;
  const owed = owedCents(sums);
  const differenceCents = seenReserve(owed, { balances, places })?.differenceCents ?? -owed;
  const byTimeCents = movements.early.byTimeCents + charges.early.byTimeCents;
  const byBreaksCents = movements.early.byBreaksCents + charges.early.byBreaksCents;
  const knownCents = -BigInt(sums.shortfall) - BigInt(sums.charges);
  const unexplainedCents = differenceCents - knownCents - byTimeCents - byBreaksCents;
  return { ...tie, owedCents: owed, differenceCents, byTimeCents, byBreaksCents, unexplainedCents };
}
