/**
 * A value that was read from a request, or its problem. The problem continues a sentence that
 * begins with the field's name: "must be …".
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unparsed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

/** The problem with one field or one header, under the name that the client wrote. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

const ECHO_CHARACTERS_MAX = 100;

/** Shortens a name that the client chose. The name may be as long as the body allows. */
export function echo(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
