import type { Binding } from "./engine.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Reads committed rows. A read never waits for a commit, and a commit never waits for a read.
 * Rejects with the error of the driver.
 */
export interface Reader {
  /** Runs a SELECT. It contains one `?` for each binding. */
  rows<Row>(sql: string, bindings?: readonly Binding[]): Promise<readonly Row[]>;
  /**
   * Runs `work` on a snapshot: it does not see later commits. The snapshot ends when `work` ends.
   */
  snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
