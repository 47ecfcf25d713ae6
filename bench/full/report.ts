import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { median, medianRatio, rounded } from "../figures.js";
import { type Machine, machineLine } from "../machine.js";
import { aligned } from "../table.js";
import type { Part } from "./options.js";
import type { Sample, Series } from "./probe.js";
import { OUT } from "./stage.js";

/** A single figure that a part is about. */
export interface Figure {
  name: string;
  value: number;
  /** Empty for a ratio. */
  unit: string;
}

/** What a part found. */
export interface Findings {
  /** What one must know to understand the rest. */
  settings: Record<string, number | string>;
  series: Series[];
  figures: Figure[];
}

export interface PartReport {
  part: Part;
  at: string;
  machine: Machine;
  settings: Record<string, number | string>;
  rows: Row[];
  figures: Figure[];
  /** What was wrong with answers or books; empty when all was right. */
  problems: string[];
}

/** One row of the table: medians over the rounds. */
interface Row extends Sample {
  name: string;
  yardstick: string | null;
  /** The median of the rounds' ratios of this rate to the yardstick's; null without one. */
  ofYardstick: number | null;
  callsPerSecondByRound: number[];
}

type FigureName = keyof Sample;

/** The median over the rounds; NaN where it was not measured. */
export function medianOf(samples: readonly Sample[], figure: FigureName): number {
  return median(samples.map((sample) => sample[figure] ?? NaN));
}

/** The median over the rounds of one figure of `above` divided by the same of `below`. */
export function ratioOf(above: readonly Sample[], below: readonly Sample[], figure: FigureName): number {
  const valuesOf = (samples: readonly Sample[]): number[] => samples.map((sample) => sample[figure] ?? NaN);
  return medianRatio(valuesOf(above), valuesOf(below));
}

/** The series as rows of a table. */
export function rowsOf(all: readonly Series[]): Row[] {
  return all.map(({ name, yardstick, samples }) => {
    const orNull = (figure: FigureName, digits: number): number | null =>
      samples.some((sample) => sample[figure] === null) ? null : rounded(medianOf(samples, figure), digits);
    const compared = all.find((other) => other.name === yardstick);
    return {
      name,
      callsPerSecond: rounded(medianOf(samples, "callsPerSecond"), 0),
      p50Millis: rounded(medianOf(samples, "p50Millis"), 3),
      p99Millis: rounded(medianOf(samples, "p99Millis"), 3),
      serverMicrosecondsPerCall: orNull("serverMicrosecondsPerCall", 1),
      loadBusy: orNull("loadBusy", 2),
      yardstick,
      ofYardstick: compared === undefined ? null : rounded(ratioOf(samples, compared.samples, "callsPerSecond"), 3),
      callsPerSecondByRound: samples.map(({ callsPerSecond }) => rounded(callsPerSecond, 0)),
    };
  });
}

/** Writes the report to bench/out/ and prints it. */
export function publish(report: PartReport): void {
  const file = join(OUT, `${report.part}.json`);
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  process.stdout.write(`\n${textOf(report)}\n\nwritten to ${file}\n`);
}

/** The report as a person reads it. */
function textOf({ part, machine, settings, rows, figures, problems }: PartReport): string {
  const header = [part, "calls/s", "p50 ms", "p99 ms", "of yardstick", "load busy", "server µs"];
  const lines = rows.map((row) => [
    row.name,
    row.callsPerSecond.toLocaleString("en"),
    row.p50Millis.toFixed(2),
    row.p99Millis.toFixed(2),
    row.ofYardstick?.toFixed(2) ?? "—",
    row.loadBusy === null ? "—" : `${(row.loadBusy * 100).toFixed(0)} %`,
    row.serverMicrosecondsPerCall?.toFixed(0) ?? "—",
  ]);
  return [
    machineLine(machine),
    Object.entries(settings)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(", "),
    "",
    ...aligned([header, ...lines]),
    "",
    ...aligned(figures.map(({ name, value, unit }) => [name, value.toLocaleString("en"), unit])),
    "",
    problems.length === 0 ? "every answer was right, and the books agree" : "WRONG:",
    ...problems.map((problem) => `  ${problem}`),
  ].join("\n");
}
