import { closest, distance } from "fastest-levenshtein";

/**
 * What is wrong with a field, for programs: the contract's FieldReason. The server
 * may send others.
 */
type ReadProblemCode =
  "REQUIRED" | "FORMAT" | "OUT_OF_RANGE" | "UNKNOWN_VALUE" | "UNKNOWN_FIELD" | "WRONG_TYPE" | "CONFLICT" | "REPEATED";

/**
 * The problem of a value. It continues a sentence that begins with the field's name: "must be …".
 */
export interface UnreadValue {
  readonly ok: false;
  readonly problem: string;
  readonly code: ReadProblemCode;
}

/** A value that was read from a request, or its problem. */
export type ReadValue<T> = { readonly ok: true; readonly value: T } | UnreadValue;

export function parsed<T>(value: T): ReadValue<T> {
  return { ok: true, value };
}

export function unparsed(problem: string, code: ReadProblemCode = "FORMAT"): UnreadValue {
  return { ok: false, problem, code };
}

const NAME_CHARACTERS_MAX = 40;
const CHANGED_LETTERS_MAX = 3;

/** The problem of a name that is none of `names`: "is not a field (did you mean account_id?)". */
export function unknownName(problem: string, name: string, names: readonly string[]): UnreadValue {
  const code = "UNKNOWN_FIELD";
  // A long name would take long to compare.
  if (names.length === 0 || name.length > NAME_CHARACTERS_MAX) return unparsed(problem, code);
  const nearest = closest(name, [...names]);
  const changed = distance(name, nearest);
  const near = changed <= CHANGED_LETTERS_MAX && changed * 2 < name.length;
  return unparsed(near ? `${problem} (did you mean ${nearest}?)` : problem, code);
}

/** The problem with one field or one header, under the name that the client wrote. */
export interface RequestProblem {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

const ECHO_CHARACTERS_MAX = 100;

/** Shortens a name that the client chose. The name may be as long as the body allows. */
export function echo(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
