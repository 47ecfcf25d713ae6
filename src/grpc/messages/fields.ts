import type { FieldCode, Parsed, Unparsed } from "../../domain/values/parsed.js";

/**
 * The problem of one field of a request. `message` continues a sentence that begins with the
 * field's name.
 */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  readonly code: FieldCode;
}

/** The values of all fields, or the problems of all invalid ones. */
export type ParsedFields<Values> =
  { readonly ok: true; readonly value: Values } | { readonly ok: false; readonly fields: readonly FieldProblem[] };

type ValuesOf<Fields> = { [Name in keyof Fields]: Fields[Name] extends Parsed<infer Value> ? Value : never };

/**
 * Joins fields that were parsed one by one. The keys are the names of the fields on the wire.
 * Returns the values of all fields; if a field is invalid, returns the problems of all invalid
 * fields.
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
    else (problems ??= []).push(problemOf(field, parsed));
  }
  return problems === undefined ? { ok: true, value: value as ValuesOf<Fields> } : { ok: false, fields: problems };
}

export function problemOf(field: string, { key, problem: message, code }: Unparsed): FieldProblem {
  return { field: key === undefined ? field : `${field}.${key}`, message, code };
}

/** Joins two parsed parts of a request: the problems of both, if one is invalid. */
export function joined<One, Other, Values>(
  one: ParsedFields<One>,
  other: ParsedFields<Other>,
  join: (one: One, other: Other) => Values,
): ParsedFields<Values> {
  if (one.ok && other.ok) return { ok: true, value: join(one.value, other.value) };
  return { ok: false, fields: [...(one.ok ? [] : one.fields), ...(other.ok ? [] : other.fields)] };
}

/** Parses each item of a list. A problem names its item, as in `rules[0].kind`. */
export function parseItems<Item, Value>(
  list: string,
  items: readonly Item[],
  parse: (item: Item) => ParsedFields<Value>,
): ParsedFields<readonly Value[]> {
  const values: Value[] = [];
  const problems: FieldProblem[] = [];
  for (const [index, item] of items.entries()) {
    const parsed = parse(item);
    if (parsed.ok) values.push(parsed.value);
    else {
      const named = parsed.fields.map((each) => ({ ...each, field: `${list}[${String(index)}].${each.field}` }));
      problems.push(...named);
    }
  }
  return problems.length === 0 ? { ok: true, value: values } : { ok: false, fields: problems };
}

export function fieldProblem(
  field: string,
  message: string,
  code: FieldCode,
): { ok: false; fields: readonly FieldProblem[] } {
  return { ok: false, fields: [{ field, message, code }] };
}

/** Parses an optional text. An absent field decodes to the empty text, which becomes undefined. */
export function ifGiven<Value>(
  unchecked: string,
  parse: (unchecked: string) => Parsed<Value>,
): Parsed<Value | undefined> {
  return unchecked === "" ? { ok: true, value: undefined } : parse(unchecked);
}

/** Parses an optional field of the contract. It may be present and empty. */
export function ifPresent<Value>(
  unchecked: string | undefined,
  parse: (unchecked: string) => Parsed<Value>,
): Parsed<Value | undefined> {
  return unchecked === undefined ? { ok: true, value: undefined } : parse(unchecked);
}

/** Returns a text of a response. The empty text, which means that there is none, is undefined. */
export function shown(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** `Values`, where a property that can be undefined can also be absent. */
export type Given<Values> = {
  [Name in keyof Values as undefined extends Values[Name] ? Name : never]?: Exclude<Values[Name], undefined>;
} & { [Name in keyof Values as undefined extends Values[Name] ? never : Name]: Values[Name] };

/** Returns the properties that are not undefined. */
export function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
}
