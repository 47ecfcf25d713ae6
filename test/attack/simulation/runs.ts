import type { MakeDisk } from "./disks/disk.js";
import { MemoryDisk } from "./disks/memory-disk.js";
import { SqliteDisks } from "./disks/sqlite-disk.js";
import { Tally } from "./report/tally.js";
import { Trace } from "./report/trace.js";
import { Violation } from "./report/violation.js";
import { simulate } from "./simulation.js";

export const ENGINES = ["memory", "sqlite", "both"] as const;

export interface RunOptions {
  /** The seed of the first run; each run after it has the next seed. */
  readonly seed: number;
  readonly runs: number;
  /** `sqlite` is the service's own storage code on a file; `both` uses it for every 500th seed. */
  readonly engine: (typeof ENGINES)[number];
  /**
   * Whether to stop at the first run that fails. Otherwise the runs look for the failure with the
   * fewest steps.
   */
  readonly bail: boolean;
}

export interface Failure {
  readonly seed: number;
  readonly error: Error;
  /** The error of the second time. If it differs, something besides the seed decides. */
  readonly again: Error | undefined;
  /** Every step that led to the error, the second time. */
  readonly steps: readonly string[];
}

// A run on a file takes as long as many runs in memory.
const SQLITE_EVERY = 500;
// A failure with fewer steps is easier to understand, and the next seeds often fail too.
const SHORTER_TRIES = 100;

export const makeMemoryDisk: MakeDisk = (organizations, clock) => new MemoryDisk(organizations, clock);

/**
 * Makes all runs. When one fails, returns the failure with the fewest steps among it and those of
 * the next seeds.
 */
export async function runAll(options: RunOptions, tally: Tally): Promise<Failure | undefined> {
  const { seed: first, runs, engine, bail } = options;
  const sqlite = engine === "memory" ? undefined : await SqliteDisks.open();
  const makerOf = (seed: number): MakeDisk =>
    sqlite !== undefined && (engine === "sqlite" || seed % SQLITE_EVERY === 0) ? sqlite.make : makeMemoryDisk;
  let shortest: Failure | undefined;
  try {
    let end = first + runs;
    for (let seed = first; seed < end; seed += 1) {
      const error = await errorOf(seed, makerOf(seed), { tally, trace: new Trace({ kept: false }) });
      if (error === undefined) continue;
      if (shortest === undefined) end = Math.min(end, seed + (bail ? 1 : SHORTER_TRIES));
      // The seed decides everything, so a second run takes the same steps, and records them.
      const trace = new Trace({ kept: true });
      const again = await errorOf(seed, makerOf(seed), { tally: new Tally(), trace });
      if (shortest === undefined || trace.lines.length < shortest.steps.length) {
        shortest = { seed, error, again, steps: trace.lines };
      }
    }
    return shortest;
  } finally {
    sqlite?.dispose();
  }
}

async function errorOf(
  seed: number,
  makeDisk: MakeDisk,
  { tally, trace }: { tally: Tally; trace: Trace },
): Promise<Error | undefined> {
  tally.count("runs", makeDisk === makeMemoryDisk ? "in memory" : "on SQLite");
  try {
    await simulate(seed, makeDisk, { tally, trace });
    return undefined;
  } catch (error) {
    if (error instanceof Violation) tally.count("violations", error.kind);
    return error instanceof Error ? error : new Error(String(error));
  }
}
