import type { Refusal } from "../../domain/refusal.js";

/**
 * A "no" of the queue and the committer: the command was not started, or nothing of it happened.
 */
export type LedgerRefusal =
  | { readonly reason: "QUEUE_FULL" }
  | { readonly reason: "SHUTTING_DOWN" }
  | { readonly reason: "DEADLINE_EXCEEDED" }
  /**
   * Should the commit's answer have been lost, it may have happened after all: the same call again
   * will tell.
   */
  | { readonly reason: "STORAGE_UNAVAILABLE" };

/** What became of a command. A `done` one is on disk. */
export type Outcome<Resource> =
  | { readonly kind: "done"; readonly resource: Resource; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal | LedgerRefusal };
