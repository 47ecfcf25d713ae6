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
