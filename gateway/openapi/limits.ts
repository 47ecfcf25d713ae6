import type { JsonObject } from "@bufbuild/protobuf";

/**
 * The limits that the comment of a field states, as keywords of JSON Schema. The contract states
 * each limit in one of a few forms of words. test/openapi/limits.test.ts asks the server whether it
 * refuses what is beyond each, and nothing within. `isGiven`: the empty text is not an absent
 * field.
 */
export function textLimits(comment: string, isGiven: boolean): JsonObject {
  const [, min, max] = /\b(\d+) to (\d+) (?:printable|letters|of a to z)/.exec(comment) ?? [];
  const most = max ?? /\bat most (\d+) (?:printable )?characters/.exec(comment)?.[1] ?? idCharactersMax(comment);
  const least = isGiven ? (min ?? (idCharactersMax(comment) === undefined ? undefined : "1")) : undefined;
  return {
    ...(least === undefined ? {} : { minLength: Number(least) }),
    ...(most === undefined ? {} : { maxLength: Number(most) }),
  };
}

/** The characters of a text that the comment of a field names. The first that is there counts. */
const CHARACTERS = [
  ["printable ASCII characters without spaces", "^[\\x21-\\x7e]*$"],
  // What the service refuses beside control characters has no pattern that Python reads.
  ["printable characters", "^[^\\x00-\\x1f\\x7f]*$"],
  ['of a to z, 0 to 9 and "-"', "^[a-z0-9-]*$"],
  ['letters, digits and "-"', "^[A-Za-z0-9-]*$"],
] as const;

// As src/domain/transaction.ts and src/domain/values/phone-number.ts read them.
const RAIL = "[a-z][a-z0-9_-]{0,31}";
const PHONE_NUMBER = "\\+?[0-9][0-9 ().-]{3,23}[0-9]";
const FORMS: ReadonlyMap<string, string> = new Map([
  ["rail", RAIL],
  ["phone_number", PHONE_NUMBER],
  ["payer_phone_number", PHONE_NUMBER],
]);

/** The pattern of a text in a request, by the name of its field or by the words of its comment. */
export function textPattern(name: string, comment: string, isGiven: boolean): JsonObject {
  const form = FORMS.get(name);
  if (form !== undefined) return { pattern: isGiven ? `^${form}$` : `^(${form})?$` };
  const [, pattern] = CHARACTERS.find(([words]) => comment.includes(words)) ?? [];
  return pattern === undefined ? {} : { pattern };
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

/**
 * The smallest sequence: 1 if the contract says so or 0 is not the same as absent, and 0 where the
 * comment gives 0 a meaning.
 */
export function sequenceMin(comment: string, isGiven: boolean): number {
  return (isGiven || /\bfrom 1 on\b/.test(comment)) && !/\b0: /.test(comment) ? 1 : 0;
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
    value: valueMax === undefined ? {} : { maxLength: Number(valueMax), ...textPattern("", comment, false) },
  };
}
