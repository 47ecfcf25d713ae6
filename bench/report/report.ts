import { rounded } from "./figures.js";
import { type Machine, machineLine } from "./machine.js";
import { type Bound, medianOf, ratioOf, type Sample, type Series } from "./series.js";
import { cell, tableOf } from "./table.js";

/** A single figure that a part is about. */
export interface Figure {
  name: string;
  value: number;
  /** Empty for a ratio. */
  unit: string;
}

/** One row of a table: medians over the rounds. */
export interface Row extends Sample {
  name: string;
  /** The median of the rounds' ratios of this rate to the yardstick's; null without one. */
  ofYardstick: number | null;
  /** Absent without a bound. */
  verdict?: "kept" | "BEYOND";
}

/** The outcome of a part. */
export interface Findings {
  /** Facts that a reader needs to understand the figures. */
  settings: Record<string, number | string>;
  series: Series[];
  figures: Figure[];
}

/** A part as its results file holds it. */
export interface PartReport {
  at: string;
  machine: Machine;
  settings: Record<string, number | string>;
  rows: Row[];
  figures: Figure[];
}

export function ratioFigure(name: string, value: number): Figure {
  return { name, value: rounded(value, 2), unit: "" };
}

/** The series as rows of a table. */
export function rowsOf(all: readonly Series[]): Row[] {
  return all.map(({ name, yardstick, bound, samples }) => {
    const figure = (of: keyof Sample, digits: number): number | null => {
      const value = medianOf(samples, of);
      return value === null ? null : rounded(value, digits);
    };
    const compared = all.find((other) => other.name === yardstick);
    return {
      name,
      callsPerSecond: figure("callsPerSecond", 0) ?? 0,
      p50Millis: figure("p50Millis", 2),
      p99Millis: figure("p99Millis", 2),
      ofYardstick: compared === undefined ? null : rounded(ratioOf(samples, compared.samples, "callsPerSecond"), 2),
      loadBusy: figure("loadBusy", 2),
      mainMicros: figure("mainMicros", 0),
      otherMicros: figure("otherMicros", 0),
      ...(bound === undefined || compared === undefined
        ? {}
        : { verdict: verdictOf(bound, samples, compared.samples) }),
    };
  });
}

/** A figure that was not measured is beyond the bound. */
function verdictOf({ rateMin, p99Max }: Bound, samples: Sample[], yardstick: Sample[]): NonNullable<Row["verdict"]> {
  const isKept =
    ratioOf(samples, yardstick, "callsPerSecond") >= rateMin && ratioOf(samples, yardstick, "p99Millis") <= p99Max;
  return isKept ? "kept" : "BEYOND";
}

function rowsTable(rows: readonly Row[]): string {
  const header = ["measurement", "calls/s", "p50 ms", "p99 ms", "÷ yardstick", "load busy", "main µs", "other µs"];
  const verdicts = rows.some(({ verdict }) => verdict !== undefined);
  const lines = rows.map((row) => [
    row.name,
    cell(row.callsPerSecond, 0),
    cell(row.p50Millis, 2),
    cell(row.p99Millis, 2),
    cell(row.ofYardstick, 2),
    cell(row.loadBusy, 2),
    cell(row.mainMicros, 0),
    cell(row.otherMicros, 0),
    ...(verdicts ? [row.verdict ?? ""] : []),
  ]);
  return tableOf([[...header, ...(verdicts ? ["bound"] : [])], ...lines]);
}

export function figureLine({ name, value, unit }: Figure): string {
  return `${name}: ${value.toLocaleString("en")}${unit === "" ? "" : ` ${unit}`}`;
}

/** The report for the terminal. */
export function textOf({ machine, settings, rows, figures }: PartReport): string {
  const facts = Object.entries(settings).map(([name, value]) => `${name} ${String(value)}`);
  const lines = figures.map((figure) => `- ${figureLine(figure)}`);
  return `${machineLine(machine)}\n${facts.join(", ")}\n\n${rowsTable(rows)}\n\n${lines.join("\n")}\n`;
}
