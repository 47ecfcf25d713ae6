import type { Output } from "../../startup/invocation.js";
import { count, ProgressLine } from "../terminal.js";
import { type ImportTotals, settledOf } from "./send-rows.js";

/** Shows the progress: a moving bar on a terminal, and one line for each tenth otherwise. */
export interface Progress {
  show(totals: ImportTotals): void;
  /** Clears the bar before another line is printed. */
  clear(): void;
}

const TENTHS = 10;

export function progressOn(stream: Output, rows: number): Progress {
  return stream.isTTY === true ? bar(stream, rows) : lines(stream, rows);
}

function bar(stream: Output, rows: number): Progress {
  const line = new ProgressLine(stream);
  return {
    show: (totals) => {
      line.show(settledOf(totals), rows, refusedWords(totals));
    },
    clear: () => {
      line.clear();
    },
  };
}

function lines(stream: Output, rows: number): Progress {
  let tenthsShown = 0;
  return {
    show: (totals) => {
      const settled = settledOf(totals);
      const tenths = Math.floor((TENTHS * settled) / Math.max(1, rows));
      if (tenths === tenthsShown) return;
      tenthsShown = tenths;
      stream.write(`${count(settled)} of ${count(rows)}${refusedWords(totals)}\n`);
    },
    // Complete lines need no clearing.
    clear: () => undefined,
  };
}

function refusedWords({ refused }: ImportTotals): string {
  return refused === 0 ? "" : `, ${count(refused)} refused`;
}
