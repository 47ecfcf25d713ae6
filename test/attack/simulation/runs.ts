import type { Disk } from "./disks/disk.js";
import { MemoryDisk } from "./disks/memory-disk.js";
import { SqliteDisks } from "./disks/sqlite-disk.js";
import { Tally } from "./report/tally.js";
import { Trace } from "./report/trace.js";
import { Violation } from "./report/violation.js";
import { ORGANIZATIONS, simulate } from "./simulation.js";

export const ENGINES = ["memory", "sqlite", "both"] as const;

export interface RunOptions {
  /** Of the first run; each one after it has the next. */
  readonly seed: number;
  readonly runs: number;
  /** `sqlite` is the service's own storage code on a file; `both` has every 500th seed on it. */
  readonly engine: (typeof ENGINES)[number];
  /** Whether the first that fails is the last, and not the one with the fewest steps looked for. */
  readonly bail: boolean;
}

export interface Failure {
  readonly seed: number;
  readonly error: Error;
  /** Of the second time. Should it be another one, something besides the seed decides. */
  readonly again: Error | undefined;
  /** Every step that led to it, the second time. */
  readonly steps: readonly string[];
}

// A run on a file costs as much as many in memory.
const SQLITE_EVERY = 500;
// Whoever looks for the bug is helped by fewer steps, and the next seeds often fail too.
const SHORTER_TRIES = 100;

/**
 * All runs; or, when one fails, of it and those that fail soon after it the one with the fewest
 * steps.
 */
export async function runAll(options: RunOptions, tally: Tally): Promise<Failure | undefined> {
  const { seed: first, runs, engine, bail } = options;
  const sqlite = engine === "memory" ? undefined : await SqliteDisks.open(ORGANIZATIONS);
  const diskOf = (seed: number): Disk =>
    sqlite !== undefined && (engine === "sqlite" || seed % SQLITE_EVERY === 0)
      ? sqlite.make()
      : new MemoryDisk(ORGANIZATIONS);
  let shortest: Failure | undefined;
  try {
    let end = first + runs;
    for (let seed = first; seed < end; seed += 1) {
      const error = await errorOf(seed, diskOf(seed), { tally, trace: new Trace({ kept: false }) });
      if (error === undefined) continue;
      if (shortest === undefined) end = Math.min(end, seed + (bail ? 1 : SHORTER_TRIES));
      // The seed decides everything: the same run once more, with its steps written down.
      const trace = new Trace({ kept: true });
      const again = await errorOf(seed, diskOf(seed), { tally: new Tally(), trace });
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
  disk: Disk,
  { tally, trace }: { tally: Tally; trace: Trace },
): Promise<Error | undefined> {
  tally.count("runs", disk.racy ? "in memory" : "on SQLite");
  try {
    await simulate(seed, disk, { tally, trace });
    return undefined;
  } catch (error) {
    if (error instanceof Violation) tally.count("violations", error.kind);
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    disk.dispose();
  }
}
