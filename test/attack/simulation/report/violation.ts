import { inspect, isDeepStrictEqual } from "node:util";

/**
 * What went wrong. `lost`: an acknowledged effect is not there; `doubled`: it is there more than
 * once; else `wrong`.
 */
export type ViolationKind = "lost" | "doubled" | "wrong";

/** Something that must always hold did not. */
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

/** Throws a Violation unless it holds. The words cost nothing while it does. */
export function mustHold(holds: boolean, words: () => { what: string; expected: unknown; found: unknown }): void {
  if (holds) return;
  const { what, expected, found } = words();
  throw new Violation(what, expected, found);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : inspect(value, { depth: 6, breakLength: 110 }).replaceAll("\n", "\n    ");
}
