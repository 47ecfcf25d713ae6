import type { Totals } from "./send-rows.js";

/** Shows the progress: a moving bar on a terminal, and one line for each tenth otherwise. */
export interface Progress {
  show(totals: Totals): void;
  /** Clears the bar before another line is printed. */
  clear(): void;
}

const BAR_CHARACTERS = 30;
const REDRAW_MILLIS = 100;
const TENTHS = 10;

export function progressOn(stream: NodeJS.WriteStream, rows: number): Progress {
  return stream.isTTY ? new Bar(stream, rows) : new Lines(stream, rows);
}

class Bar implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #rows: number;
  readonly #startedAt = performance.now();
  #drawnAt = -Infinity;

  constructor(stream: NodeJS.WriteStream, rows: number) {
    this.#stream = stream;
    this.#rows = rows;
  }

  show(totals: Totals): void {
    const now = performance.now();
    const done = doneOf(totals);
    if (now - this.#drawnAt < REDRAW_MILLIS && done < this.#rows) return;
    this.#drawnAt = now;
    const filled = Math.floor((BAR_CHARACTERS * done) / Math.max(1, this.#rows));
    const bar = "█".repeat(filled) + "░".repeat(BAR_CHARACTERS - filled);
    const perSecond = Math.round((done * 1_000) / Math.max(1, now - this.#startedAt));
    const speed = `${perSecond.toLocaleString("en")} a second`;
    this.#stream.write(`\r\x1b[K${bar} ${describe(totals, this.#rows)}, ${speed}`);
  }

  clear(): void {
    this.#stream.write("\r\x1b[K");
  }
}

class Lines implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #rows: number;
  #tenthsShown = 0;

  constructor(stream: NodeJS.WriteStream, rows: number) {
    this.#stream = stream;
    this.#rows = rows;
  }

  show(totals: Totals): void {
    const tenths = Math.floor((TENTHS * doneOf(totals)) / Math.max(1, this.#rows));
    if (tenths === this.#tenthsShown) return;
    this.#tenthsShown = tenths;
    this.#stream.write(`${describe(totals, this.#rows)}\n`);
  }

  clear(): void {
    // Complete lines need no clearing.
  }
}

function doneOf({ created, replayed, refused }: Totals): number {
  return created + replayed + refused;
}

function describe(totals: Totals, rows: number): string {
  const refused = totals.refused === 0 ? "" : `, ${totals.refused.toLocaleString("en")} refused`;
  return `${doneOf(totals).toLocaleString("en")} of ${rows.toLocaleString("en")}${refused}`;
}
