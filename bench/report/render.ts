import { GOALS, isMet } from "./goals.js";
import { type Machine, machineLine } from "./machine.js";
import { figureLine, type Row } from "./report.js";
import type { Results } from "./results.js";
import { cell, tableOf } from "./table.js";

/** The text between `<!-- results: NAME -->` and `<!-- end of results -->`. */
const BLOCK = /(<!-- results: (\w+) -->\n)[^]*?(<!-- end of results -->)/g;

const RENDERERS: Record<string, (results: Results) => string> = {
  service: ratesOf("service"),
  postgres: ratesOf("postgres"),
  blnk: ratesOf("blnk"),
  goals,
  figures,
};

/** The document with every block of results replaced. Throws on a block of an unknown name. */
export function withResults(document: string, results: Results): string {
  return document.replace(BLOCK, (_, begin: string, name: string, end: string) => {
    const render = RENDERERS[name];
    if (render === undefined) throw new Error(`No block of results is called "${name}"`);
    return `${begin}\n${render(results)}\n\n${end}`;
  });
}

function ratesOf(part: string): (results: Results) => string {
  return ({ parts }) => {
    const report = parts[part];
    return report === undefined ? "Nothing was measured yet." : `${measuredOn(report)}\n\n${ratesTable(report.rows)}`;
  };
}

/** What a reader compares. The terminal and the results file also have the processor time. */
function ratesTable(rows: readonly Row[]): string {
  const lines = rows.map(({ name, callsPerSecond, p50Millis, p99Millis, ofYardstick }) => [
    name,
    cell(callsPerSecond, 0),
    cell(p50Millis, 2),
    cell(p99Millis, 2),
    cell(ofYardstick, 2),
  ]);
  return tableOf([["measurement", "calls/s", "p50 ms", "p99 ms", "÷ yardstick"], ...lines]);
}

/** The goals that are not met come first. */
function goals({ parts }: Results): string {
  const measured = Object.values(parts).flatMap((report) => report.figures);
  const lines = GOALS.map((goal) => {
    const value = measured.find(({ name }) => name === goal.figure)?.value;
    const verdict = value === undefined ? "not measured" : isMet(goal, value) ? "met" : "not met";
    return { verdict, text: `${goal.figure}: ${cell(value, 2)} (${goal.bound} ${String(goal.value)})` };
  });
  return ["not met", "not measured", "met"]
    .flatMap((verdict) => lines.filter((line) => line.verdict === verdict))
    .map(({ verdict, text }) => `- **${verdict}** ${text}`)
    .join("\n");
}

/**
 * The sizes, times and rates, a line for each part. The results file also has ratios without a
 * goal and processor times.
 */
function figures({ parts }: Results): string {
  return Object.entries(parts)
    .flatMap(([part, { at, machine, figures: all }]) => {
      const others = all.filter(
        ({ name, unit }) => unit !== "" && !unit.startsWith("µs") && !GOALS.some(({ figure }) => figure === name),
      );
      const origin = `${part}, ${at.slice(0, 10)}, commit ${machine.commit}`;
      return others.length === 0 ? [] : [`- ${origin}: ${others.map(figureLine).join("; ")}`];
    })
    .join("\n");
}

function measuredOn({ at, machine }: { at: string; machine: Machine }): string {
  return `Measured on ${at.slice(0, 10)}: ${machineLine(machine)}.`;
}
