/**
 * What is wrong with a field, for programs: the contract's FieldReason. The server
 * may send others.
 */
type FieldCode =
  "REQUIRED" | "FORMAT" | "OUT_OF_RANGE" | "UNKNOWN_VALUE" | "UNKNOWN_FIELD" | "WRONG_TYPE" | "CONFLICT" | "REPEATED";

/**
 * The problem of a value. It continues a sentence that begins with the field's name: "must be …".
 */
export interface Unparsed {
  readonly ok: false;
  readonly problem: string;
  readonly code: FieldCode;
}

/** A value that was read from a request, or its problem. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Unparsed;

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unparsed(problem: string, code: FieldCode = "FORMAT"): Unparsed {
  return { ok: false, problem, code };
}

/** The problem with one field or one header, under the name that the client wrote. */
export interface FieldProblem {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

const ECHO_CHARACTERS_MAX = 100;

/** Shortens a name that the client chose. The name may be as long as the body allows. */
export function echo(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
