/**
 * What parsing text from outside gives: the value, whose type is the proof, or what is wrong, in
 * words for the caller.
 */
export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** `problem` continues a sentence that begins with the field's name: "must be …". */
export function unparsed(problem: string): { ok: false; problem: string } {
  return { ok: false, problem };
}
