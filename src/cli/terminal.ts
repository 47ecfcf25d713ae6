import { styleText } from "node:util";

import { invocation, type Output } from "../startup/invocation.js";

export type Style = "bold" | "dim" | "green" | "yellow" | "red";

/** Writes a text in a style. Without colours it returns the text as it is. */
export type Paint = (style: Style, text: string) => string;

export function painter(hasColours: boolean): Paint {
  return hasColours ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}

/** Whether people see the stream, and want colours (https://no-color.org). */
export function hasColours({ isTTY = false }: Output): boolean {
  return isTTY && (invocation().env["NO_COLOR"] ?? "") === "";
}

const REDRAW_MILLIS = 100;
const BAR_CHARACTERS = 20;
const COLUMNS_DEFAULT = 80;
const CLEARED = "\r\u001B[K";

/** Shows how far a long command is, on one line that it draws again and again. */
export class ProgressLine {
  readonly #stream: Output;
  readonly #isShown: boolean;
  readonly #startedAt = performance.now();
  #drawnAt = -Infinity;
  /** Outside a terminal: the newest words, and what writes them. */
  #words = "";
  readonly #writing: NodeJS.Timeout | undefined;

  /** Outside a terminal it draws nothing. With `writesEveryMillis` it writes a line so often. */
  constructor(
    stream: Output,
    { isWanted = true, writesEveryMillis }: { readonly isWanted?: boolean; readonly writesEveryMillis?: number } = {},
  ) {
    this.#stream = stream;
    this.#isShown = stream.isTTY === true && isWanted;
    if (stream.isTTY === true || !isWanted || writesEveryMillis === undefined) return;
    this.#writing = setInterval(() => this.#stream.write(`${this.#words}\n`), writesEveryMillis);
  }

  /** Shows words about a step whose length is not known. */
  say(words: string): void {
    if (!this.#isShown) return;
    // Of a line that the terminal breaks, only the last part could be cleared.
    const { columns = 0 } = this.#stream;
    this.#stream.write(CLEARED + words.slice(0, (columns > 0 ? columns : COLUMNS_DEFAULT) - 1));
  }

  /** Shows `done` of `total`. Redraws ten times a second, and at the end. */
  show(done: number, total: number, things: string): void {
    const now = performance.now();
    const perSecond = Math.round((done * 1_000) / Math.max(1, now - this.#startedAt));
    const words = `${count(done)} of ${count(total)}${things}, ${count(perSecond)} a second`;
    this.#words = words;
    if (!this.#isShown || (now - this.#drawnAt < REDRAW_MILLIS && done < total)) return;
    this.#drawnAt = now;
    this.say(`${barOf(done, total)} ${words}`);
  }

  /** Ends it: clears the line before another line is printed. */
  clear(): void {
    clearInterval(this.#writing);
    if (this.#isShown) this.#stream.write(CLEARED);
  }
}

function barOf(done: number, total: number): string {
  const filled = Math.floor((BAR_CHARACTERS * Math.min(done, total)) / Math.max(1, total));
  return "█".repeat(filled) + "░".repeat(BAR_CHARACTERS - filled);
}

/** Formats a number for people, as a whole one: "12,345". */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
