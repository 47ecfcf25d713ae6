/**
 * What an act makes of one thing, in the words and amounts of people. A text is empty where there
 * is nothing. Both are equal for what stays, and what a second person must know to decide.
 */
export interface Change {
  /** No other change of the act has the same. */
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** Makes a list of changes. Those that have neither a text before nor one after are left out. */
export function changes(
  ...all: readonly (readonly [what: string, before: string | undefined, after: string | undefined])[]
): readonly Change[] {
  return all
    .map(([what, before = "", after = ""]) => ({ what, before, after }))
    .filter(({ before, after }) => before !== "" || after !== "");
}

/** What is no longer as a person has seen it. */
export interface Outdated {
  readonly what: string;
  readonly before: string;
  readonly now: string;
}

const NONE = { before: "", after: "" };

/** Returns the first change that is not now as it was seen. Undefined if all are. */
export function outdatedIn(seen: readonly Change[], current: readonly Change[]): Outdated | undefined {
  for (const what of new Set([...current, ...seen].map((change) => change.what))) {
    const of = (all: readonly Change[]) => all.find((change) => change.what === what) ?? NONE;
    for (const side of ["before", "after"] as const) {
      const [before, now] = [of(seen)[side], of(current)[side]];
      if (before !== now) return { what, before, now };
    }
  }
  return undefined;
}

/** Returns "customer request" for CUSTOMER_REQUEST. */
export function inWords(name: string): string {
  return name.toLowerCase().replaceAll("_", " ");
}
