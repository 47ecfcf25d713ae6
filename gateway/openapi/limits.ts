import type { JsonObject } from "@bufbuild/protobuf";

/**
 * The limits that the comment of a field states, as keywords of JSON Schema. The contract states
 * each limit in one of a few forms of words. test/openapi/limits.test.ts asks the server whether it
 * refuses what is beyond each of them, and nothing within.
 */
export function textLimits(comment: string, direction: "request" | "response"): JsonObject {
  const [, min, max] = /\b(\d+) to (\d+) printable/.exec(comment) ?? [];
  const most = max ?? /\bat most (\d+) (?:printable )?characters/.exec(comment)?.[1] ?? idCharactersMax(comment);
  // A response has the empty text where nothing is given.
  const least =
    direction === "request" ? (min ?? (idCharactersMax(comment) === undefined ? undefined : "1")) : undefined;
  return {
    ...(least === undefined ? {} : { minLength: Number(least) }),
    ...(most === undefined ? {} : { maxLength: Number(most) }),
    ...(comment.includes("printable ASCII characters without spaces") ? { pattern: "^[\\x21-\\x7e]*$" } : {}),
  };
}

/** Every id is a text of at most 128 characters (docs/api.md). */
const ID = /\("[a-z]+_…"\)/;

function idCharactersMax(comment: string): string | undefined {
  return ID.test(comment) ? "128" : undefined;
}

/** The bounds of a page: "1 to 1000. Absent means 100." */
export function countLimits(comment: string): JsonObject {
  const [, max, usual] = /\b1 to (\d+)\. Absent means (\d+)/.exec(comment) ?? [];
  return max === undefined ? {} : { minimum: 1, maximum: Number(max), default: Number(usual) };
}

/** The smallest of numbers that count from 1 on, or from 0 if the comment gives 0 a meaning. */
export function sequenceMin(comment: string): number {
  return /\bfrom 1 on\b/.test(comment) && !/\b0: /.test(comment) ? 1 : 0;
}

/** The bounds of an amount: "0.01 to 9999999999999.99". */
export function amountLimits(comment: string): { readonly minimum?: number; readonly maximum?: number } {
  const [, min, max] = /\b(\d+\.\d\d) to (\d+\.\d\d)/.exec(comment) ?? [];
  return min === undefined ? {} : { minimum: Number(min), maximum: Number(max) };
}

/** The bounds of a list: "1 to 1000 mints". */
export function listLimits(comment: string): JsonObject {
  const [, min, max] = /\b(\d+) to (\d+)\b/.exec(comment) ?? [];
  if (max !== undefined) return { minItems: Number(min), maxItems: Number(max) };
  const most = /\bat most (\d+)\b/.exec(comment)?.[1];
  return most === undefined ? {} : { maxItems: Number(most) };
}

/** The bounds of pairs: "at most 20 pairs, keys of 1 to 40 characters, values of at most 500". */
export function pairLimits(comment: string): { readonly object: JsonObject; readonly value: JsonObject } {
  const most = /\bat most (\d+)\b/.exec(comment)?.[1];
  const [, keyMin, keyMax] = /\bkeys of (\d+) to (\d+)/.exec(comment) ?? [];
  const valueMax = /\bvalues of at most (\d+)/.exec(comment.replaceAll(/\s+/g, " "))?.[1];
  return {
    object: {
      ...(most === undefined ? {} : { maxProperties: Number(most) }),
      ...(keyMax === undefined ? {} : { propertyNames: { minLength: Number(keyMin), maxLength: Number(keyMax) } }),
    },
    value: valueMax === undefined ? {} : { maxLength: Number(valueMax) },
  };
}
