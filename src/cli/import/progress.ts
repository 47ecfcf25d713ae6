import type { Output } from "../../startup/invocation.js";
import { ProgressLine } from "../terminal.js";
import type { ImportTotals } from "./send-rows.js";

/** Shows the progress: a moving bar on a terminal, and one line for each tenth otherwise. */
export interface Progress {
  show(totals: ImportTotals): void;
  /** Clears the bar before another line is printed. */
  clear(): void;
}

const TENTHS = 10;

export function progressOn(stream: Output, rows: number): Progress {
  return stream.isTTY === true ? new Bar(stream, rows) : new Lines(stream, rows);
}

class Bar implements Progress {
  readonly #line: ProgressLine;
  readonly #rows: number;

  constructor(stream: Output, rows: number) {
    this.#line = new ProgressLine(stream);
    this.#rows = rows;
  }

  show(totals: ImportTotals): void {
    this.#line.show(doneOf(totals), this.#rows, refusedWords(totals));
  }

  clear(): void {
    this.#line.clear();
  }
}

class Lines implements Progress {
  readonly #stream: Output;
  readonly #rows: number;
  #tenthsShown = 0;

  constructor(stream: Output, rows: number) {
    this.#stream = stream;
    this.#rows = rows;
  }

  show(totals: ImportTotals): void {
    const tenths = Math.floor((TENTHS * doneOf(totals)) / Math.max(1, this.#rows));
    if (tenths === this.#tenthsShown) return;
    this.#tenthsShown = tenths;
    this.#stream.write(`${describe(totals, this.#rows)}\n`);
  }

  clear(): void {
    // Complete lines need no clearing.
  }
}

function doneOf({ created, replayed, refused }: ImportTotals): number {
  return created + replayed + refused;
}

function describe(totals: ImportTotals, rows: number): string {
  return `${doneOf(totals).toLocaleString("en")} of ${rows.toLocaleString("en")}${refusedWords(totals)}`;
}

function refusedWords({ refused }: ImportTotals): string {
  return refused === 0 ? "" : `, ${refused.toLocaleString("en")} refused`;
}
