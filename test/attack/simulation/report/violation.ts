import { inspect, isDeepStrictEqual } from "node:util";

/**
 * The kind of a violation. `lost`: an acknowledged effect is missing; `doubled`: it is there more
 * than once; otherwise `wrong`.
 */
export type ViolationKind = "lost" | "doubled" | "wrong";

/** A rule that must always hold, and did not. */
export class Violation extends Error {
  constructor(
    readonly what: string,
    readonly expected: unknown,
    readonly found: unknown,
    readonly kind: ViolationKind = "wrong",
  ) {
    super(`${what}\n  expected  ${textOf(expected)}\n  found     ${textOf(found)}`);
    this.name = "Violation";
  }
}

/** Throws a Violation unless both are the same. */
export function mustBe(what: string, expected: unknown, found: unknown): void {
  if (!Object.is(expected, found) && !isDeepStrictEqual(expected, found)) throw new Violation(what, expected, found);
}

/** Throws a Violation unless it holds. The words are only made when it does not. */
export function mustHold(holds: boolean, words: () => { what: string; expected: unknown; found: unknown }): void {
  if (holds) return;
  const { what, expected, found } = words();
  throw new Violation(what, expected, found);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : inspect(value, { depth: 6, breakLength: 110 }).replaceAll("\n", "\n    ");
}
