import type { Refusal } from "../../domain/refusal.js";

/**
 * A refusal by the queue or the committer. Nothing of the command happened, apart from the case
 * below.
 */
export type LedgerRefusal =
  | { readonly reason: "QUEUE_FULL" }
  | { readonly reason: "SHUTTING_DOWN" }
  | { readonly reason: "DEADLINE_EXCEEDED" }
  /**
   * If the response to the commit was lost, the command may have happened. Repeating the call
   * returns the outcome.
   */
  | { readonly reason: "STORAGE_UNAVAILABLE" };

/** The refusals after which the ledger may decide the same command a moment later. */
export const DECIDED_LATER = [
  "QUEUE_FULL",
  "SHUTTING_DOWN",
  "DEADLINE_EXCEEDED",
  "STORAGE_UNAVAILABLE",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
] as const satisfies readonly (LedgerRefusal["reason"] | "BOOK_MOVING" | "CLOCK_BEHIND")[];

/** The outcome of a command. A `done` command is on disk. */
export type Outcome<Resource> =
  | { readonly kind: "done"; readonly resource: Resource; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal | LedgerRefusal };
