import type { Snapshot } from "./snapshot.js";

/**
 * Reads what is committed. Never waits for a commit, and no commit waits for it. Rejects with what
 * the driver throws.
 */
export interface Reader {
  /** Runs a SELECT, with `?` for each of the bindings. */
  rows<Row>(sql: string, bindings?: readonly (string | number)[]): Promise<readonly Row[]>;
  /**
   * Runs `work` on the database as it is now, whatever is written meanwhile. The snapshot ends with
   * it.
   */
  snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
