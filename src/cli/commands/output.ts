import { once } from "node:events";

import { nairobiDayOf, startOfDay } from "../../domain/values/nairobi-day.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { invocation } from "../../startup/invocation.js";
import { hasColours, painter, type Style } from "../terminal.js";

/** Prints one or more lines. */
export function printLine(text: string): void {
  invocation().stdout.write(`${text}\n`);
}

/**
 * Prints one or more lines of a long output. Waits while the reader of a pipe is slow, so that the
 * lines do not fill the memory.
 */
export async function printLineInTurn(text: string): Promise<void> {
  await printTextInTurn(`${text}\n`);
}

/** Prints a text that has the ends of its lines, and waits as `printLineInTurn` does. */
export async function printTextInTurn(text: string): Promise<void> {
  const { stdout } = invocation();
  if (!stdout.write(text)) await once(stdout, "drain");
}

/** Prints a JSON value on one line, for scripts. */
export function printJson(value: unknown): void {
  printLine(JSON.stringify(value));
}

/** Returns a value for people: a list with commas, and nothing for null. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);
}

/** Returns the fields of a record for people, one on each line. */
export function fieldLines(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(
    ([name, value]) => `  ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
}

/** Returns the style of a cell, by its text and the heading of its column. */
export type StyleOf = (text: string, heading: string) => Style | undefined;

/**
 * Prints rows in aligned columns. The first row holds the headings. Only a terminal gets colours,
 * so the lines of a pipe are as wide as they look.
 */
export function printTable(rows: readonly (readonly string[])[], styleOf: StyleOf = () => undefined): void {
  const paint = painter(hasColours(invocation().stdout));
  const [headings = []] = rows;
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  for (const [index, row] of rows.entries()) {
    const last = row.findLastIndex((cell) => cell !== "");
    const cells = row.slice(0, last + 1).map((cell, column) => {
      const style = index === 0 ? "dim" : styleOf(cell, headings[column] ?? "");
      const padded = column === last ? cell : cell.padEnd(widths[column] ?? 0);
      return style === undefined ? padded : paint(style, padded);
    });
    printLine(cells.join("  "));
  }
}

/**
 * Sets what the operator must do if the output of this command is lost, because it cannot be shown
 * again.
 */
export function adviseIfOutputIsLost(advice: string): void {
  invocation().adviceOnLoss = advice;
}

/**
 * Ends the process when its output cannot be written. Exits quietly with 0 when the reader of a
 * pipe has ended: `kesc org list | head` must not print an error. Otherwise, and if the loss
 * matters, says what happened and exits with 1.
 */
export function endWhenOutputFails(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const { adviceOnLoss } = invocation();
    if (error.code === "EPIPE" && adviceOnLoss === "") process.exit();
    process.stderr.write(`Standard output cannot be written: ${error.message}.\n`);
    if (adviceOnLoss !== "") process.stderr.write(`${adviceOnLoss}\n`);
    process.exit(1);
  });
  // No other place is left to say it.
  process.stderr.on("error", () => undefined);
}

/** Returns the day in Kenya if that begins then: a bank says no more. Otherwise the time. */
export function dayOrTimeOf(millis: UnixMillis): string {
  const day = nairobiDayOf(millis);
  return startOfDay(day) === millis ? day : timeOf(millis);
}

/** Formats a time as RFC 3339. Returns null if there is no time. */
export function timeOf(millis: number): string;
export function timeOf(millis: number | undefined): string | null;
export function timeOf(millis: number | undefined): string | null {
  return millis === undefined ? null : new Date(millis).toISOString();
}
