import { JOURNAL_KINDS, type JournalKind } from "./journal.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";

/** Selects types of events: "transaction.completed", or "transaction.*" for all that begin so. */
export type EventPattern = string & { readonly brand: unique symbol };

const ALL = "*";
const PATTERNS: ReadonlySet<string> = new Set([
  ...JOURNAL_KINDS,
  ...JOURNAL_KINDS.map((kind) => `${kind.slice(0, kind.indexOf("."))}.${ALL}`),
]);
const PROBLEM = "must be types of events such as transaction.completed, groups such as transaction.*, or *";

/** The types that a filter selects. Undefined in it: all, also those of later versions. */
export interface EventTypes {
  readonly only: readonly EventPattern[] | undefined;
}

/** Parses the types of a filter, in any order. An empty list becomes undefined. */
export function parseEventTypes(unchecked: readonly string[]): Parsed<EventTypes | undefined> {
  if (unchecked.length === 0) return parsed(undefined);
  // A filter is small, however often a caller repeats a type.
  const patterns = new Set(unchecked);
  const isAll = patterns.delete(ALL);
  if (![...patterns].every((pattern) => PATTERNS.has(pattern))) return unparsed(PROBLEM, "UNKNOWN_VALUE");
  return parsed({ only: isAll ? undefined : ([...patterns].sort() as EventPattern[]) });
}

export function matchesType(pattern: EventPattern, type: string): boolean {
  return pattern.endsWith(ALL) ? type.startsWith(pattern.slice(0, -ALL.length)) : type === pattern;
}

/** Returns the types of this version that the filter selects. Undefined: all. */
export function typesOf({ only }: EventTypes): readonly JournalKind[] | undefined {
  return only && JOURNAL_KINDS.filter((kind) => only.some((pattern) => matchesType(pattern, kind)));
}
