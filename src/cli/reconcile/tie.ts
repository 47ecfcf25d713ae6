import type { ExplainedTie } from "../../reconcile/tie.js";
import { decimalOf } from "../../verify/format.js";
import { timeOf } from "../commands/output.js";

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
