import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";

type NumberName<Prefix extends string, Word extends string> = `${Prefix}_${Uppercase<Word>}`;

/**
 * Returns the contract's value for each word of the domain: ACCOUNT_STATUS_ACTIVE for "ACTIVE". It
 * does not compile if the contract lacks one.
 */
export function enumOf<
  Word extends string,
  Prefix extends string,
  Enum extends Readonly<Record<NumberName<Prefix, Word>, unknown>>,
>(values: Enum, prefix: Prefix, words: readonly Word[]): { readonly [Each in Word]: Enum[NumberName<Prefix, Each>] } {
  const valueOf = (word: Word): unknown => values[`${prefix}_${word.toUpperCase() as Uppercase<Word>}`];
  const numberOf = Object.fromEntries(words.map((word) => [word, valueOf(word)]));
  prefixes.set(numberOf, prefix);
  return numberOf as never;
}

/** The prefix of the labels that the numbers of `enumOf` have in the contract. */
const prefixes = new WeakMap<object, string>();

/** Refuses another number, in the labels that tools of gRPC take. REST refuses in its own. */
export function unknownWord(words: readonly string[], numberOf: object): Parsed<never> {
  const prefix = prefixes.get(numberOf);
  const labels = words.map((word) => (prefix === undefined ? word : `${prefix}_${word.toUpperCase()}`));
  return unparsed(`must be one of ${labels.join(", ")}`, "UNKNOWN_VALUE");
}

/** Parses a word that a request may leave out. */
export function parseWord<Word extends string>(
  unchecked: number,
  words: readonly Word[],
  numberOf: Readonly<Record<Word, number>>,
): Parsed<Word | undefined> {
  if (unchecked === 0) return parsed(undefined);
  const word = words.find((known) => numberOf[known] === unchecked);
  return word === undefined ? unknownWord(words, numberOf) : parsed(word);
}

/** Parses a word that a request must have. */
export function parseRequiredWord<Word extends string>(
  unchecked: number,
  words: readonly Word[],
  numberOf: Readonly<Record<Word, number>>,
): Parsed<Word> {
  const word = parseWord(unchecked, words, numberOf);
  if (!word.ok) return word;
  return word.value === undefined ? unparsed("is required", "REQUIRED") : parsed(word.value);
}

/**
 * Parses the words of a filter, in any order. Returns each once, in the order of `words`. No word
 * means any word, and so do all of them.
 */
export function parseWords<Word extends string>(
  unchecked: readonly number[],
  words: readonly Word[],
  numberOf: Readonly<Record<Word, number>>,
): Parsed<readonly Word[] | undefined> {
  const asked = new Set(unchecked);
  const found = words.filter((word) => asked.has(numberOf[word]));
  if (found.length < asked.size) return unknownWord(words, numberOf);
  return parsed(found.length === 0 || found.length === words.length ? undefined : found);
}
