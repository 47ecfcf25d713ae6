import { parse } from "lossless-json";

import { echo, type Parsed, parsed, unparsed } from "../problems/field-problem.js";

/** A number as it was written: its digits are never put through a float. */
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
 * Parses one JSON text (RFC 8259), keeping the text of each number. Refuses, beyond what is not
 * JSON, an object that names a key twice: which of the two values counts would be anybody's guess.
 * Every key, `__proto__` too, is an own property of its object.
 */
export function parseJson(text: string): Parsed<Json> {
  let json: Json;
  try {
    json = parse(text, undefined, {
      parseNumber: (digits) => new JsonNumber(digits),
      // Says nothing of a key that is repeated with an equal value: findRepeatedKey does, and of
      // any other too.
      onDuplicateKey: () => undefined,
    }) as Json;
  } catch (error) {
    // Brackets within brackets, tens of thousands deep, exhaust the stack: a RangeError.
    return unparsed(error instanceof SyntaxError ? `is not JSON: ${error.message}` : "is nested too deeply");
  }
  const repeated = findRepeatedKey(text);
  return repeated === undefined ? parsed(json) : unparsed(`has the key ${JSON.stringify(echo(repeated))} twice`);
}

// Whatever opens or closes a scope, or is a string; a string with a colon behind it is a key.
const STRUCTURE = /[{}[\]]|("[^"\\]*(?:\\.[^"\\]*)*")([ \t\n\r]*:)?/g;

/** The first key that stands twice in one object. `text` is known to be JSON. */
function findRepeatedKey(text: string): string | undefined {
  const scopes: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(STRUCTURE)) {
    if (quoted === undefined) {
      if (token === "{" || token === "[") scopes.push(new Set());
      else scopes.pop();
    } else if (colon !== undefined) {
      // The same key may be written with and without escapes.
      const key = JSON.parse(quoted) as string;
      const keys = scopes.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
