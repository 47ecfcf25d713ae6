import { type Parsed, parsed, type Unparsed, unparsed } from "./parsed.js";

export type UserId = string & { readonly brand: unique symbol };
export type Reference = string & { readonly brand: unique symbol };
export type Description = string & { readonly brand: unique symbol };
export type StatusReason = string & { readonly brand: unique symbol };
export type IdempotencyKey = string & { readonly brand: unique symbol };
export type Metadata = ReadonlyMap<string, string> & { readonly brand: unique symbol };

const NAME_CHARACTERS_MAX = 128;
const SENTENCE_CHARACTERS_MAX = 256;
const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;
const METADATA_PAIRS_MAX = 20;
const METADATA_KEY_CHARACTERS_MAX = 40;
const METADATA_VALUE_CHARACTERS_MAX = 500;

const RESERVED_PREFIX = "kesc:";

export const NO_REASON = "" as StatusReason;

/** The problem of a name with a space at an end: a reader would take it for the one without. */
export const NO_OUTER_SPACE = "must not begin or end with a space";

// Letters, marks, digits, punctuation, symbols and the plain space. U+FFFD is refused separately:
// the protobuf decoder puts it in place of bytes that are not UTF-8. With it, two different broken
// references would become the same text.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]*$/u;
// Descriptions may also contain the two joiners that some scripts and emoji need. In a name the
// joiners would be invisible: two different names would look the same.
const PRINTABLE_WORDS = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200C\u200D]*$/u;
const REPLACEMENT_CHARACTER = "\uFFFD";
const ASCII_PRINTABLE = /^[\x21-\x7e]+$/;

/**
 * Parses the organization's name for a user: 1 to 128 printable characters, without a space at
 * either end.
 */
export function parseUserId(unchecked: string): Parsed<UserId> {
  return parseName<UserId>(unchecked);
}

/**
 * Parses the name of a transaction: 1 to 128 printable characters, without a space at either end.
 */
export function parseReference(unchecked: string): Parsed<Reference> {
  return parseName<Reference>(unchecked);
}

/**
 * Parses the caller's name for a new transaction. The names of the service itself begin with
 * "kesc:".
 */
export function parseNewReference(unchecked: string): Parsed<Reference> {
  return unchecked.startsWith(RESERVED_PREFIX)
    ? unparsed(`must not begin with "${RESERVED_PREFIX}": such references are reserved`, "RESERVED")
    : parseReference(unchecked);
}

/** Parses a text for people: at most 256 printable characters. */
export function parseDescription(unchecked: string): Parsed<Description> {
  return parseWords<Description>(unchecked, SENTENCE_CHARACTERS_MAX);
}

/** Parses the reason for a change of status: at most 256 printable characters. */
export function parseStatusReason(unchecked: string): Parsed<StatusReason> {
  return parseWords<StatusReason>(unchecked, SENTENCE_CHARACTERS_MAX);
}

/**
 * Parses the value of an Idempotency-Key header: 1 to 255 printable ASCII characters without
 * spaces.
 */
export function parseIdempotencyKey(unchecked: string): Parsed<IdempotencyKey> {
  if (unchecked === "") return unparsed("must not be empty", "REQUIRED");
  if (unchecked.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) return tooLong(IDEMPOTENCY_KEY_CHARACTERS_MAX);
  return ASCII_PRINTABLE.test(unchecked)
    ? parsed(unchecked as IdempotencyKey)
    : unparsed("must be printable ASCII characters without spaces");
}

/**
 * Parses the caller's own key-value pairs: at most 20 pairs, keys of 1 to 40 printable characters,
 * values of at most 500.
 */
export function parseMetadata(unchecked: ReadonlyMap<string, string>): Parsed<Metadata> {
  if (unchecked.size > METADATA_PAIRS_MAX) {
    return unparsed(`must have at most ${String(METADATA_PAIRS_MAX)} pairs`, "TOO_MANY");
  }
  for (const [key, value] of unchecked) {
    if (key === "") return unparsed("has a key that must not be empty", "REQUIRED");
    const parsedKey = parseWords(key, METADATA_KEY_CHARACTERS_MAX);
    if (!parsedKey.ok) return unparsed(`has a key that ${parsedKey.problem}`, parsedKey.code);
    const parsedValue = parseWords(value, METADATA_VALUE_CHARACTERS_MAX);
    if (!parsedValue.ok) return { ...parsedValue, key };
  }
  return parsed(unchecked as Metadata);
}

export function sameMetadata(left: Metadata, right: Metadata): boolean {
  return left.size === right.size && [...left].every(([key, value]) => right.get(key) === value);
}

/**
 * Parses a name that a caller gives: 1 to 128 printable characters, without a space at either end.
 */
export function parseName<T extends string>(unchecked: string): Parsed<T> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  if (unchecked.trim() !== unchecked) return unparsed(NO_OUTER_SPACE);
  return parsePrintable<T>(unchecked, { charactersMax: NAME_CHARACTERS_MAX, printable: PRINTABLE });
}

function parseWords<T extends string>(unchecked: string, charactersMax: number): Parsed<T> {
  return parsePrintable<T>(unchecked, { charactersMax, printable: PRINTABLE_WORDS });
}

function parsePrintable<T extends string>(
  unchecked: string,
  { charactersMax, printable }: { charactersMax: number; printable: RegExp },
): Parsed<T> {
  // A string has at least as many UTF-16 units as characters. So a short string needs no count of
  // its characters.
  if (unchecked.length > charactersMax && Array.from(unchecked).length > charactersMax) return tooLong(charactersMax);
  if (printable.test(unchecked) && !unchecked.includes(REPLACEMENT_CHARACTER)) return parsed(unchecked as T);
  const refused = String(Array.from(unchecked).find((each) => !printable.test(each) || each === REPLACEMENT_CHARACTER));
  const codePoint = Number(refused.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
  const kind = KINDS.find(([characters]) => characters.test(refused))?.[1] ?? "which nobody can print";
  return unparsed(`must be printable UTF-8 text: it has U+${codePoint}, ${kind}`);
}

/** What a refused character is, by the first of these that fits. */
const KINDS = [
  [/[\p{Cc}\p{Zl}\p{Zp}]/u, "a control character or a line break"],
  [/[\u200C\u200D]/, "a joiner: two names that differ by it would look the same"],
  [/\p{Cf}/u, "which nobody sees"],
  [/\uFFFD/, "which stands for bytes that are not UTF-8"],
] as const;

function tooLong(charactersMax: number): Unparsed {
  return unparsed(`must have at most ${String(charactersMax)} characters`, "TOO_LONG");
}

/** Quotes a text for a shell, so that a command which we print can be pasted. */
export function forShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
