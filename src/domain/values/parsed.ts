/**
 * The result of parsing text from outside: a value, whose type proves that it is valid, or a
 * problem. The problem is a text for the caller.
 */
export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** `problem` continues a sentence that begins with the field's name, for example "must be …". */
export function unparsed(problem: string): { ok: false; problem: string } {
  return { ok: false, problem };
}
