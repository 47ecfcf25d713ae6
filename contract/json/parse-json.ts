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

// Matches each bracket and each string. A string before a colon is a key.
const STRUCTURE = /[{}[\]]|("[^"\\]*(?:\\.[^"\\]*)*")([ \t\n\r]*:)?/g;

/** Returns the first key that one object has twice. `text` must be JSON. */
function findRepeatedKey(text: string): string | undefined {
  const scopes: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(STRUCTURE)) {
    if (quoted === undefined) {
      if (token === "{" || token === "[") scopes.push(new Set());
      else scopes.pop();
    } else if (colon !== undefined) {
      // Decoded, because the same key may be written with and without escapes.
      const key = JSON.parse(quoted) as string;
      const keys = scopes.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
