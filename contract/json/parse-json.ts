import { echo, parsed, type ReadValue, unparsed } from "../field-problem.js";

/** The text of a JSON number. A float would change the digits of an amount. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof JsonNumber);
}

/**
 * Parses one JSON text (RFC 8259) and keeps the text of each number. Refuses an object that has a
 * key twice: programs disagree about which of the two values counts. Every key becomes an own
 * property of its object, `__proto__` included.
 */
export function parseJson(text: string): ReadValue<Json> {
  try {
    JSON.parse(text);
    return parsed(new ValidJson(text).value());
  } catch (error) {
    if (error instanceof RepeatedKey) return unparsed(`has the key ${JSON.stringify(echo(error.message))} twice`);
    // Tens of thousands of nested brackets exhaust the stack: a RangeError.
    return unparsed(error instanceof SyntaxError ? `is not JSON: ${error.message}` : "is nested too deeply");
  }
}

class RepeatedKey extends Error {}

/** What may follow a number or a word. */
const ENDS = new Set([",", "]", "}", " ", "\t", "\n", "\r", undefined]);
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>(
  Object.entries({ null: null, true: true, false: false }),
);

/**
 * Reads a text that JSON.parse accepts, so it checks no syntax. A string is one slice. Built
 * character by character, 256 KiB cost the thread 20 ms of garbage collection (lossless-json 4.3).
 */
class ValidJson {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): Json {
    const first = this.#next();
    if (first === '"') return this.#string();
    if (first === "{") return this.#object();
    if (first === "[") return this.#array();
    const scalar = this.#scalar();
    const word = WORDS.get(scalar);
    return word === undefined ? new JsonNumber(scalar) : word;
  }

  #object(): JsonObject {
    const properties = new Map<string, Json>();
    this.#at += 1;
    while (this.#next() !== "}") {
      const key = this.#string();
      if (properties.has(key)) throw new RepeatedKey(key);
      this.#next();
      this.#at += 1;
      properties.set(key, this.value());
      this.#skipComma();
    }
    this.#at += 1;
    return Object.fromEntries(properties);
  }

  #array(): readonly Json[] {
    const items: Json[] = [];
    this.#at += 1;
    while (this.#next() !== "]") {
      items.push(this.value());
      this.#skipComma();
    }
    this.#at += 1;
    return items;
  }

  #string(): string {
    const end = closingQuote(this.#text, this.#at);
    const inside = this.#text.slice(this.#at + 1, end);
    const decoded = inside.includes("\\") ? (JSON.parse(this.#text.slice(this.#at, end + 1)) as string) : inside;
    this.#at = end + 1;
    return decoded;
  }

  #skipComma(): void {
    if (this.#next() === ",") this.#at += 1;
  }

  #scalar(): string {
    const start = this.#at;
    while (!ENDS.has(this.#text[this.#at])) this.#at += 1;
    return this.#text.slice(start, this.#at);
  }

  /** Skips white space, and returns the character behind it. */
  #next(): string | undefined {
    while ((this.#text[this.#at] ?? "!") <= " ") this.#at += 1;
    return this.#text[this.#at];
  }
}

/**
 * Returns the place of the quote that ends the string. No pattern looks for it: a pattern with a
 * repeated group exhausts the stack over a string of a million escapes.
 */
function closingQuote(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === "\\") first -= 1;
    // An even number of backslashes escapes backslashes alone.
    if ((end - first) % 2 === 0) return end;
  }
}
