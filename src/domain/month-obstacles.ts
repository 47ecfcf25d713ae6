import { KIND_OF_NEW_PLACE, type ReserveFigure } from "./reserve.js";
import { formatCents } from "./values/cents.js";
import { lastDayOfMonth, type Month } from "./values/month.js";
import type { NairobiDay } from "./values/nairobi-day.js";
import { forShell } from "./values/text.js";

/** The most rows of a month that a pack takes: its files stay below 4 GiB, the bound of a ZIP. */
export const MONTH_ROWS_MAX = 2_000_000;

/** A statement of the month, compared with the book. */
export interface StatementOfMonth {
  /** The name of the rail or of the place. */
  readonly of: string;
  readonly isOfRail: boolean;
  /** Why it cannot be compared. Undefined if it was. */
  readonly problem: string | undefined;
  readonly breaks: number;
  /** What makes it doubtful: sentences for people. */
  readonly doubts: readonly string[];
  /** What the tie cannot explain. Undefined without a tie. */
  readonly unexplainedCents: bigint | undefined;
  /** The last day that a bank's file tells of. Undefined of a rail. */
  readonly lastDay: NairobiDay | undefined;
  /** The closing balance of a bank. Undefined if the file has none. */
  readonly closing: { readonly cents: number; readonly day: NairobiDay } | undefined;
}

/** What decides whether a month can be closed. */
export interface MonthFacts {
  readonly organizationId: string;
  readonly month: Month;
  readonly rows: number;
  /** The last row of the month. 0 if the book began later. */
  readonly lastSeq: number;
  /** The number of rows that a checkpoint covers. */
  readonly sealedSize: number;
  readonly hasSealKey: boolean;
  /** Whether sealed rows of the book were changed, and nobody has cleared the alarm. */
  readonly isAlarmed: boolean;
  /** The rails whose statement is needed. */
  readonly rails: readonly string[];
  /** The newest figure of each place for a day of the month or before. */
  readonly figures: readonly ReserveFigure[];
  /** The names of all places. */
  readonly places: readonly string[];
  readonly statements: readonly StatementOfMonth[];
}

/**
 * Returns what keeps a month from being closed, each with the act that ends it: all of it, so that
 * a person does not learn of one after the other. Empty if nothing does.
 */
export function obstaclesOf(facts: MonthFacts): readonly string[] {
  const { rails, places, statements, lastSeq } = facts;
  // No figure and no statement would help.
  if (lastSeq === 0) return ["the book has no row of this month or before: name a later month"];
  return [
    ...obstaclesOfBook(facts),
    ...rails.flatMap((rail) => missing(rail, statements)),
    ...statements.filter(({ isOfRail }) => isOfRail).flatMap(differing),
    ...places.flatMap((place) => obstaclesOfPlace(place, facts)),
  ];
}

function obstaclesOfBook(facts: MonthFacts): readonly string[] {
  const { organizationId, rows, lastSeq, sealedSize, hasSealKey, isAlarmed } = facts;
  return [
    ...(rows > MONTH_ROWS_MAX
      ? [
          `it has ${String(rows)} rows, and a pack takes ${String(MONTH_ROWS_MAX)}: use kesc export ledger ${organizationId}`,
        ]
      : []),
    ...(hasSealKey ? [] : ["there is no seal key: run kesc seal rotate, and restart the servers"]),
    ...(isAlarmed ? ["sealed rows of the book were changed: kesc seal list shows the alarm, kesc verify the row"] : []),
    ...(sealedSize < lastSeq
      ? [
          `its last row ${String(lastSeq)} is not sealed, but row ${String(sealedSize)} is: ` +
            "wait some minutes, and look at kesc seal list",
        ]
      : []),
  ];
}

/** Only a bank has statements, and who gives one of another place wants it compared. */
function obstaclesOfPlace(place: string, facts: MonthFacts): readonly string[] {
  const { organizationId, month, figures, statements } = facts;
  const lastDay = lastDayOfMonth(month);
  const figure = figures.find((each) => each.place === place);
  const record = (amount: string): string =>
    `kesc reserve record ${organizationId} --place ${forShell(place)} --amount ${amount} --as-of ${lastDay} ` +
    // Without it the place would become another thing, which needs no statement.
    `--kind ${figure?.kind ?? KIND_OF_NEW_PLACE} --evidence TEXT`;
  const own = statements.filter((each) => !each.isOfRail && each.of === place);
  return [
    ...(figure?.kind === "bank_kenya" ? missing(place, own) : []),
    ...(figure?.asOfDay === lastDay ? [] : [`${place} has no figure for ${lastDay}: ${record("AMOUNT")}`]),
    ...own.flatMap((statement) => {
      const { closing, lastDay: last } = statement;
      if (statement.problem !== undefined) return differing(statement);
      // Nobody records less than nothing.
      const cents = Math.max(closing?.cents ?? 0, 0);
      const isSame = closing !== undefined && figure?.asOfDay === lastDay && cents === figure.amountCents;
      const isEarly = last === undefined || last < lastDay;
      const isOther = closing?.day === lastDay && !isSame;
      return [
        ...differing(statement),
        ...(isEarly && !isSame
          ? [`the statement of ${place} ends on ${last ?? "no day"}: export it up to ${lastDay} or later`]
          : []),
        ...(isOther ? [`the statement of ${place} closes otherwise: ${record(formatCents(cents))}`] : []),
      ];
    }),
  ];
}

function missing(of: string, statements: readonly StatementOfMonth[]): readonly string[] {
  return statements.some((each) => each.of === of)
    ? []
    : [`${of} has no statement: add --statement ${forShell(`${of}=FILE`)}`];
}

function differing({ of, isOfRail, problem, breaks, doubts, unexplainedCents }: StatementOfMonth): readonly string[] {
  const compare = isOfRail ? `kesc reconcile ${of} FILE` : `kesc reconcile --place ${forShell(of)} FILE`;
  if (problem !== undefined) return [`the statement of ${of} cannot be compared: ${problem}`];
  return [
    ...(breaks === 0 ? [] : [`${of} has ${String(breaks)} breaks: ${compare} prints the act that ends each`]),
    ...doubts.map((doubt) => `the statement of ${of} is doubtful: ${doubt.replace(/\.$/, "")}`),
    ...(unexplainedCents === undefined || unexplainedCents === 0n
      ? []
      : [`the tie of ${of} leaves ${signedText(unexplainedCents)} unexplained: ${compare} shows the tie`]),
  ];
}

function signedText(cents: bigint): string {
  return `${cents < 0n ? "-" : ""}${formatCents(cents < 0n ? -cents : cents)}`;
}
