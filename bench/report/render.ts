import { sum } from "./figures.js";
import { GOALS, isMet } from "./goals.js";
import { type Machine, machineLine } from "./machine.js";
import { figureLine, rowsTable } from "./report.js";
import type { Profile, Results } from "./results.js";
import { cell, tableOf } from "./table.js";

/** The text between `<!-- results: NAME -->` and `<!-- end of results -->`. */
const BLOCK = /(<!-- results: (\w+) -->\n)[^]*?(<!-- end of results -->)/g;

/** Code with less in every column is in the row "the rest". */
const PROFILE_MICROS_MIN = 7;

const RENDERERS: Record<string, (results: Results) => string> = { service, goals, figures, profile };

/** The document with every block of results replaced. Throws on a block of an unknown name. */
export function withResults(document: string, results: Results): string {
  return document.replace(BLOCK, (_, begin: string, name: string, end: string) => {
    const render = RENDERERS[name];
    if (render === undefined) throw new Error(`No block of results is called "${name}"`);
    return `${begin}\n${render(results)}\n\n${end}`;
  });
}

function service({ parts }: Results): string {
  const report = parts["service"];
  return report === undefined ? "Nothing was measured yet." : `${measuredOn(report)}\n\n${rowsTable(report.rows)}`;
}

/** The goals that are not met come first. */
function goals({ parts }: Results): string {
  const measured = Object.values(parts).flatMap((report) => report.figures);
  const lines = GOALS.map((goal) => {
    const value = measured.find(({ name }) => name === goal.figure)?.value;
    const verdict = value === undefined ? "not measured" : isMet(goal, value) ? "met" : "not met";
    return { verdict, text: `${goal.figure}: ${cell(value, 2)}, goal ${goal.bound} ${String(goal.value)}` };
  });
  return ["not met", "not measured", "met"]
    .flatMap((verdict) => lines.filter((line) => line.verdict === verdict))
    .map(({ verdict, text }) => `- **${verdict}** ${text}`)
    .join("\n");
}

/** The figures without a goal, a line for each part. */
function figures({ parts }: Results): string {
  return Object.entries(parts)
    .flatMap(([part, { at, machine, figures: all }]) => {
      const others = all.filter(({ name }) => !GOALS.some(({ figure }) => figure === name));
      const origin = `${part}, ${at.slice(0, 10)}, commit ${machine.commit}`;
      return others.length === 0 ? [] : [`- ${origin}: ${others.map(figureLine).join("; ")}`];
    })
    .join("\n");
}

function profile({ profile: found }: Results): string {
  if (found === undefined) return "Nothing was profiled yet.";
  const { calls, rows } = found;
  const isLarge = ({ micros }: Profile["rows"][number]): boolean =>
    micros.some((one) => (one ?? 0) >= PROFILE_MICROS_MIN);
  const lineOf = (name: string, micros: (number | null)[]): string[] => [name, ...micros.map((one) => cell(one, 1))];
  const sums = (of: Profile["rows"]): number[] =>
    calls.map((_, call) => sum(of.map(({ micros }) => micros[call] ?? 0)));
  const large = rows.filter(isLarge).map(({ name, micros }) => lineOf(name, micros));
  const rest = lineOf("the rest", sums(rows.filter((row) => !isLarge(row))));
  return `${measuredOn(found)}\n\n${tableOf([["µs a call", ...calls], ...large, rest, lineOf("total", sums(rows))])}`;
}

function measuredOn({ at, machine }: { at: string; machine: Machine }): string {
  return `Measured on ${at.slice(0, 10)}: ${machineLine(machine)}.`;
}
