/**
 * What reading text from outside gives: the value, or what is wrong, in words that continue a
 * sentence ("must be …").
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unparsed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

/**
 * One bad field of a request, or one bad header: its name as the caller writes it, and what is
 * wrong with it.
 */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

// A name from the request is repeated to its sender only in part: it may be as long as the body.
const ECHO_CHARACTERS_MAX = 100;

/** Shortens a name that the caller made up, for an answer to that caller. */
export function echo(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
