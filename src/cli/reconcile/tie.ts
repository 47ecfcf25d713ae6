import type { BookSums } from "../../domain/book.js";
import { owedCents, seenReserve } from "../../domain/reserve.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Reconciled } from "../../reconcile/reconcile.js";
import { sumsAsOf } from "../../statements/as-of.js";
import type { RecordedFigure, ReportedBalance } from "../../statements/ports.js";
import { firstSeqFrom } from "../../storage/lists/first-seq-from.js";
import { historyReads } from "../../storage/statements/history.js";
import { decimalOf } from "../../verify/format.js";
import { timeOf } from "../commands/output.js";
import type { FoundOwner } from "../organizations.js";

/** What the rail says that its accounts hold, and what the book says, at the same moment. */
export interface Tie {
  readonly at: UnixMillis;
  readonly railAccounts: readonly ReportedBalance[];
  readonly places: readonly RecordedFigure[];
  /** The sums of the book at that moment. */
  readonly sums: BookSums;
}

/** Reads both sides of the tie. Undefined until the rail has told a balance. */
export async function readTie({ organization, cell }: FoundOwner, rail: string): Promise<Tie | undefined> {
  const { id: organizationId } = organization;
  const reads = historyReads(cell);
  const balances = await reads.railBalances(organizationId);
  const railAccounts = balances.filter((each) => each.rail === rail && each.currency === "KES");
  const at = railAccounts[0]?.reportedAt;
  if (at === undefined) return undefined;
  const places = await reads.reserveHoldings(organizationId);
  const { reader, engine, directory } = cell;
  const [book] = await directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
  const time = toUnixMillis(at + 1);
  const seq = (await firstSeqFrom(reader, engine, { book: book?.number ?? 0, time })) - 1;
  const { sums } = await sumsAsOf({ organizationId, reads, inTurn: async (read) => (await read()).result }, seq);
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

/** Returns the tie for people. */
export function tieLines(tie: ExplainedTie): string[] {
  const line = (words: string, cents: bigint | number, more = ""): string =>
    `  ${words.padEnd(34)} ${decimalOf(BigInt(cents)).padStart(18)}${more}`;
  return [
    `The tie, at ${timeOf(tie.at)}:`,
    ...tie.railAccounts.map(({ rail, name, availableCents }) => line(`${rail}: ${name}`, availableCents)),
    ...tie.places.map(({ place, amountCents, asOfDay }) => line(place, amountCents, `  at the end of ${asOfDay}`)),
    line("less what is owed", -tie.owedCents),
    line("difference", tie.differenceCents),
    line("of it the shortfall", -BigInt(tie.sums.shortfall)),
    line("of it charges of rails", -BigInt(tie.sums.charges)),
    line("of it under way at that moment", tie.byTimeCents),
    line("of it the breaks", tie.byBreaksCents),
    line("not explained", tie.unexplainedCents),
  ];
}

/** Returns the tie for scripts. Amounts are texts: no program rounds them. */
export function tieJson(tie: ExplainedTie): Readonly<Record<string, unknown>> {
  return {
    at: timeOf(tie.at),
    rail_accounts: tie.railAccounts.map(({ name, availableCents }) => ({ name, amount: decimalOf(availableCents) })),
    places: tie.places.map(({ place, amountCents, asOfDay }) => ({
      place,
      amount: decimalOf(amountCents),
      as_of_day: asOfDay,
    })),
    owed: decimalOf(tie.owedCents),
    difference: decimalOf(tie.differenceCents),
    shortfall: decimalOf(tie.sums.shortfall),
    charges: decimalOf(tie.sums.charges),
    under_way: decimalOf(tie.byTimeCents),
    breaks: decimalOf(tie.byBreaksCents),
    not_explained: decimalOf(tie.unexplainedCents),
  };
}
