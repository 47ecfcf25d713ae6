import { createHash } from "node:crypto";

import type { StatementOfMonth } from "../../../domain/month-obstacles.js";
import { type Month, periodOfMonth } from "../../../domain/values/month.js";
import { nairobiDayOf } from "../../../domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { Totals } from "../../../reconcile/reconciliation.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import type { ExplainedTie } from "../../../reconcile/tie.js";
import type { History } from "../../../statements/as-of.js";
import { actorOf } from "../../calls/call-context.js";
import { formatSigned } from "../../messages/history/supply.js";
import type { StatementOf } from "../../messages/operators/statement-file.js";
import type { OperatorCaller } from "../acts.js";
import type { ComparedFile, SentFile } from "../rails/reconcile-rpc.js";

/** A file is compared in parts then, but a month is closed as a whole. */
const BEYOND_BOUNDS = / more than [0-9]+ (?:rows|entries|movements)|takes too long|too much memory/;
const NO_PART =
  "A month beyond the bounds of a comparison cannot be closed: compare its parts with kesc reconcile, " +
  "and write its books with kesc export";

/** The file of a statement, as the caller sent it. */
export interface SentOfMonth {
  readonly of: StatementOf;
  readonly fileName: string;
  /** With a buffer of its own. */
  readonly bytes: Uint8Array;
}

/** A statement of the month, and what the pack says of it. */
export interface ComparedOfMonth extends StatementOfMonth {
  readonly report: object;
}

interface Comparing {
  readonly compare: (given: SentFile) => Promise<ComparedFile | undefined>;
  readonly history: History;
  readonly caller: OperatorCaller;
  readonly month: Month;
}

/**
 * Compares a statement with the rows of a whole month: what only one side has in it is a break.
 * Undefined: too many files of others wait.
 */
export async function comparedOfMonth(
  { of, fileName: name, bytes }: SentOfMonth,
  { compare, history, caller, month }: Comparing,
): Promise<ComparedOfMonth | undefined> {
  const { start, end } = periodOfMonth(month);
  // Both ends belong to it.
  const period = { from: start, to: toUnixMillis(end - 1) };
  const isOfRail = "kind" in of;
  const named = { of: isOfRail ? of.rail : of.place, isOfRail };
  const file = { file_bytes: bytes.length, file_sha256: createHash("sha256").update(bytes).digest("hex") };
  try {
    const { organization, who } = caller;
    const compared = await compare({ of, name, bytes, person: actorOf(who), organization, history, period });
    if (compared === undefined) return undefined;
    const lastDay = compared.facts.period === undefined ? undefined : nairobiDayOf(compared.facts.period.to);
    return {
      ...named,
      problem: undefined,
      breaks: compared.breaks.length,
      doubts: compared.facts.doubts,
      unexplainedCents: compared.tie?.unexplainedCents,
      lastDay,
      closing: "place" in compared ? compared.closing?.balance : undefined,
      report: { of: named.of, ...file, ...reportOf(compared) },
    };
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    const nothing = { breaks: 0, doubts: [], unexplainedCents: undefined, lastDay: undefined, closing: undefined };
    const said = error.message.replace(/\.$/, "");
    return { ...named, ...nothing, problem: BEYOND_BOUNDS.test(said) ? `${said}. ${NO_PART}` : said, report: {} };
  }
}

function reportOf(compared: ComparedFile): object {
  const { facts, breaks, tie, reconciled } = compared;
  const { movements, charges } = reconciled;
  return {
    ...("place" in compared ? { source: compared.source, statement: compared.statement ?? null } : {}),
    in_statement: totalsOf(movements.onRail),
    booked: totalsOf(movements.booked),
    matched: totalsOf(movements.matched),
    charges: totalsOf(charges.onRail),
    charges_matched: totalsOf(charges.matched),
    not_completed: facts.notCompleted,
    at_the_edge: movements.atTheEdge,
    breaks: breaks.length,
    ...("place" in compared
      ? { closing_balance: compared.closing === undefined ? null : closingOf(compared.closing) }
      : { tie: tie === undefined ? null : tieOf(tie) }),
  };
}

function totalsOf({ count, inCents, outCents }: Totals): object {
  return { count, amount_in: formatSigned(inCents), amount_out: formatSigned(outCents) };
}

function closingOf({ balance }: { readonly balance: { readonly cents: number; readonly day: string } }): object {
  return { amount: formatSigned(balance.cents), day: balance.day };
}

function tieOf({ at, railAccounts, places, owedCents, differenceCents, sums, ...explained }: ExplainedTie): object {
  return {
    time: new Date(at).toISOString(),
    rail_balances: railAccounts.map(({ name, availableCents }) => ({ name, amount: formatSigned(availableCents) })),
    places: places.map(({ place, amountCents, asOfDay }) => ({
      place,
      amount: formatSigned(amountCents),
      as_of_day: asOfDay,
    })),
    owed: formatSigned(owedCents),
    difference: formatSigned(differenceCents),
    shortfall: formatSigned(-BigInt(sums.shortfall)),
    charges: formatSigned(-BigInt(sums.charges)),
    under_way: formatSigned(explained.byTimeCents),
    differences: formatSigned(explained.byBreaksCents),
    not_explained: formatSigned(explained.unexplainedCents),
  };
}
