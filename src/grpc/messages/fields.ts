import type { Parsed } from "../../domain/values/parsed.js";

/**
 * What is wrong with one field of a request; `message` continues a sentence that begins with the
 * field's name.
 */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** All values of a request, or all its problems. */
export type ParsedFields<Values> =
  { readonly ok: true; readonly value: Values } | { readonly ok: false; readonly fields: readonly FieldProblem[] };

type ValuesOf<Fields> = { [Name in keyof Fields]: Fields[Name] extends Parsed<infer Value> ? Value : never };

/**
 * Joins fields that were parsed one by one, each under its name on the wire: the values of all, or,
 * when any has a problem, the problems of all.
 */
export function parseFields<Fields extends Record<string, Parsed<unknown>>>(
  fields: Fields,
): ParsedFields<ValuesOf<Fields>> {
  const value: Record<string, unknown> = {};
  let problems: FieldProblem[] | undefined;
  for (const field in fields) {
    const parsed: Parsed<unknown> | undefined = fields[field];
    if (parsed === undefined) continue;
    if (parsed.ok) value[field] = parsed.value;
    else (problems ??= []).push({ field, message: parsed.problem });
  }
  return problems === undefined ? { ok: true, value: value as ValuesOf<Fields> } : { ok: false, fields: problems };
}

export function fieldProblem(field: string, message: string): { ok: false; fields: readonly FieldProblem[] } {
  return { ok: false, fields: [{ field, message }] };
}

/**
 * Parses an optional text: the empty one, which is what an absent field decodes to, stands for
 * none.
 */
export function ifGiven<Value>(
  unchecked: string,
  parse: (unchecked: string) => Parsed<Value>,
): Parsed<Value | undefined> {
  return unchecked === "" ? { ok: true, value: undefined } : parse(unchecked);
}

/** The properties that have a value. */
export function given<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}
