import { median, medianRatio, rounded } from "./figures.js";
import type { LoadResult } from "./load/job.js";
import { type Machine, machineLine } from "./machine.js";
import { COMPARISONS, type Measurement } from "./plan.js";
import { aligned } from "./table.js";

/** What the load process saw, and what it cost the program that answered. */
export interface Round extends LoadResult {
  /** CPU time of the thread with the event loop. */
  mainThreadMicrosecondsPerCall: number;
  otherThreadsMicrosecondsPerCall: number;
}

/** The results of one measurement, one for each round. */
export interface Measured {
  measurement: Measurement;
  rounds: Round[];
}

/** One row of the table: medians over the rounds. */
export interface Row {
  name: string;
  inFlight: number;
  connections: number;
  callsPerSecond: number;
  p50Millis: number;
  p99Millis: number;
  yardstick: string | null;
  /** The median of the rounds' ratios of this rate to the yardstick's; null for a yardstick. */
  ofYardstick: number | null;
  loadMicrosecondsPerCall: number;
  loadBusy: number;
  mainThreadMicrosecondsPerCall: number;
  otherThreadsMicrosecondsPerCall: number;
  callsPerSecondByRound: number[];
}

export interface Report {
  at: string;
  machine: Machine;
  settings: Record<string, number | string>;
  rows: Row[];
  comparisons: { name: string; ratio: number }[];
  /** What was wrong with answers or books; empty when all was right. */
  problems: string[];
}

/** The rows in the order in which they were measured. */
export function rowsOf(all: Measured[]): Row[] {
  return all.map(({ measurement, rounds }) => {
    const { name, inFlight, connections, yardstick = null } = measurement;
    return {
      name,
      inFlight,
      connections,
      callsPerSecond: rounded(medianOf(rounds, "callsPerSecond"), 0),
      p50Millis: rounded(medianOf(rounds, "p50Millis"), 3),
      p99Millis: rounded(medianOf(rounds, "p99Millis"), 3),
      yardstick,
      ofYardstick: yardstick === null ? null : ratioOf(all, name, yardstick),
      loadMicrosecondsPerCall: rounded(medianOf(rounds, "loadMicrosecondsPerCall"), 1),
      loadBusy: rounded(medianOf(rounds, "loadBusy"), 2),
      mainThreadMicrosecondsPerCall: rounded(medianOf(rounds, "mainThreadMicrosecondsPerCall"), 1),
      otherThreadsMicrosecondsPerCall: rounded(medianOf(rounds, "otherThreadsMicrosecondsPerCall"), 1),
      callsPerSecondByRound: rounds.map(({ callsPerSecond }) => rounded(callsPerSecond, 0)),
    };
  });
}

/** The comparisons of which both sides were measured. */
export function comparisonsOf(all: Measured[]): { name: string; ratio: number }[] {
  return COMPARISONS.flatMap(({ name, of, to }) => {
    const ratio = ratioOf(all, of, to);
    return ratio === null ? [] : [{ name, ratio }];
  });
}

/** The report as a person reads it. */
export function textOf(report: Report): string {
  const { machine, settings } = report;
  const header = ["", "calls/s", "p50 ms", "p99 ms", "of yardstick", "load busy", "main µs", "other µs"];
  const lines = report.rows.map((row) => [
    row.name,
    row.callsPerSecond.toLocaleString("en"),
    row.p50Millis.toFixed(2),
    row.p99Millis.toFixed(2),
    row.ofYardstick?.toFixed(2) ?? "—",
    `${(row.loadBusy * 100).toFixed(0)} %`,
    row.mainThreadMicrosecondsPerCall.toFixed(0),
    row.otherThreadsMicrosecondsPerCall.toFixed(0),
  ]);
  return [
    machineLine(machine),
    Object.entries(settings)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(", "),
    "",
    ...aligned([header, ...lines]),
    "",
    ...report.comparisons.map(({ name, ratio }) => `${name}: ${ratio.toFixed(2)}`),
    "",
    report.problems.length === 0 ? "every answer was right, and the books agree" : "WRONG:",
    ...report.problems.map((problem) => `  ${problem}`),
  ].join("\n");
}

/**
 * The rate of `of` divided by that of `to`, median over the rounds; null when one was not measured.
 */
function ratioOf(all: Measured[], of: string, to: string): number | null {
  const ratesOf = (wanted: string): number[] | undefined =>
    all.find(({ measurement }) => measurement.name === wanted)?.rounds.map(({ callsPerSecond }) => callsPerSecond);
  const [above, below] = [ratesOf(of), ratesOf(to)];
  if (above === undefined || below === undefined) return null;
  return rounded(medianRatio(above, below), 3);
}

type Figure = {
  [Name in keyof Round]: Round[Name] extends number ? Name : never;
}[keyof Round];

function medianOf(rounds: Round[], figure: Figure): number {
  return median(rounds.map((round) => round[figure]));
}
