import type { Command } from "../../../../src/domain/operations.js";
import type { Reference } from "../../../../src/domain/values/text.js";

/** A command that a caller wants done once, however often it has to repeat it. */
export interface Wish {
  /**
   * Makes one try. Each try has a new id for the resource that it makes, as a server would give it.
   */
  next(): Command;
  /** The names that its tries have carried so far. */
  readonly references: ReadonlySet<Reference>;
  /**
   * Whether other wishes carry its names too: then one of them may have done it although this one
   * was refused.
   */
  shared: boolean;
}

/** A wish whose tries have no reference of their own. */
export function wishOf(next: () => Command): Wish {
  return { next, references: new Set(), shared: true };
}
