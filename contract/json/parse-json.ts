import { parse } from "lossless-json";

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
  let json: Json;
  try {
    json = parse(text, undefined, {
      parseNumber: (digits) => new JsonNumber(digits),
      // lossless-json does not report a repeated key with an equal value. findRepeatedKey reports
      // every repeated key.
      onDuplicateKey: () => undefined,
    }) as Json;
  } catch (error) {
    // Tens of thousands of nested brackets exhaust the stack: a RangeError.
    return unparsed(error instanceof SyntaxError ? `is not JSON: ${error.message}` : "is nested too deeply");
  }
  const repeated = findRepeatedKey(text);
  return repeated === undefined ? parsed(json) : unparsed(`has the key ${JSON.stringify(echo(repeated))} twice`);
}

const STRUCTURE = /["{}[\]]/g;
const COLON = /[ \t\n\r]*:/y;

/** Returns the first key that one object has twice. `text` must be JSON. */
function findRepeatedKey(text: string): string | undefined {
  const scopes: Set<string>[] = [];
  const structure = new RegExp(STRUCTURE);
  for (let found = structure.exec(text); found !== null; found = structure.exec(text)) {
    const [token] = found;
    if (token !== '"') {
      if (token === "{" || token === "[") scopes.push(new Set());
      else scopes.pop();
      continue;
    }
    const end = closingQuote(text, found.index);
    structure.lastIndex = end + 1;
    COLON.lastIndex = end + 1;
    // A string before a colon is a key.
    if (!COLON.test(text)) continue;
    // Decoded, because the same key may be written with and without escapes.
    const key = JSON.parse(text.slice(found.index, end + 1)) as string;
    const keys = scopes.at(-1);
    if (keys?.has(key) === true) return key;
    keys?.add(key);
  }
  return undefined;
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
