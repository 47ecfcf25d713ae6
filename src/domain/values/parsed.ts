/**
 * What is wrong with a field, for programs. The contract's FieldReason documents these codes.
 * UNKNOWN_FIELD, WRONG_TYPE and REPEATED are problems of JSON, which only the gateway finds.
 */
export type FieldCode =
  "REQUIRED" | "TOO_LONG" | "TOO_MANY" | "FORMAT" | "OUT_OF_RANGE" | "UNKNOWN_VALUE" | "RESERVED" | "CONFLICT";

/** The problem of a text from outside, for people and for programs. */
export interface Unparsed {
  ok: false;
  problem: string;
  code: FieldCode;
  /** The key of the pair that is wrong, where the field is a map. */
  key?: string;
}

/**
 * The result of parsing text from outside: a value, whose type proves that it is valid, or a
 * problem.
 */
export type Parsed<T> = { ok: true; value: T } | Unparsed;

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** Parses one of these words. */
export function parseOneOf<Word extends string>(unchecked: string, words: readonly Word[]): Parsed<Word> {
  const word = words.find((known) => known === unchecked);
  return word === undefined ? unparsed(`must be one of ${words.join(", ")}`, "UNKNOWN_VALUE") : parsed(word);
}

/** Parses at least one of these words. Repeats count once, and the order is that of `words`. */
export function parseSomeOf<Word extends string>(
  unchecked: readonly string[],
  words: readonly Word[],
): Parsed<readonly Word[]> {
  if (unchecked.length === 0) return unparsed("is required", "REQUIRED");
  for (const text of unchecked) {
    const word = parseOneOf(text, words);
    if (!word.ok) return word;
  }
  return parsed(words.filter((word) => unchecked.includes(word)));
}

/** `problem` continues a sentence that begins with the field's name, for example "must be …". */
export function unparsed(problem: string, code: FieldCode = "FORMAT"): Unparsed {
  return { ok: false, problem, code };
}
