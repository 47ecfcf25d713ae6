import { readFileSync } from "node:fs";

/** The cells of the first table under a line of a document, without its two head rows. */
export function tableUnder(heading: string, document: string): readonly (readonly string[])[] {
  const lines = readFileSync(document, "utf8").split("\n");
  const [first, end] = linesOfTable(heading, lines);
  return cellsOf(lines.slice(first + 2, end));
}

function cellsOf(lines: readonly string[]): string[][] {
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/**
 * The text with these rows in the first table under a heading, as prettier writes them. The first
 * row is the head. The others keep the order that they have there, by their first cell; new ones
 * come last. Throws if there is no such table.
 */
export function withTable(text: string, heading: string, [head, ...given]: readonly (readonly string[])[]): string {
  const lines = text.split("\n");
  const [first, end] = linesOfTable(heading, lines);
  const before = cellsOf(lines.slice(first, end)).map(([name]) => name);
  const placeOf = ([name]: readonly string[]): number => (before.includes(name) ? before.indexOf(name) : end);
  const rows = [head ?? [], ...given.toSorted((one, other) => placeOf(one) - placeOf(other))];
  const widths = (head ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [top = "", ...others] = rows.map(lineOf);
  const table = [top, lineOf(widths.map((width) => "-".repeat(width))), ...others];
  return [...lines.slice(0, first), ...table, ...lines.slice(end)].join("\n");
}

/** Returns the number of the first line of the table, and of the first line after it. */
function linesOfTable(heading: string, lines: readonly string[]): readonly [first: number, end: number] {
  const under = lines.indexOf(heading);
  const first = lines.findIndex((line, index) => index > under && line.startsWith("|"));
  if (under < 0 || first < 0) throw new Error(`there is no table under "${heading}"`);
  const end = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  return [first, end < 0 ? lines.length : end];
}
