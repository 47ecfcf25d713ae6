import type { MakeDisk } from "./disks/disk.js";
import { MemoryDisk } from "./disks/memory-disk.js";
import { SqliteDisks } from "./disks/sqlite-disk.js";
import { simulateRails } from "./rails/simulate-rails.js";
import { Tally } from "./report/tally.js";
import { Trace } from "./report/trace.js";
import { Violation } from "./report/violation.js";
import { simulate } from "./simulation.js";

export const ENGINES = ["memory", "sqlite", "both", "rails"] as const;

export interface RunOptions {
  /** The seed of the first run; each run after it has the next seed. */
  readonly seed: number;
  readonly runs: number;
  /**
   * `sqlite` is the service's own storage code on a file; `both` uses it for every 500th seed.
   * `rails` is the settlement over a simulated rail, in memory.
   */
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

interface Watched {
  readonly tally: Tally;
  readonly trace: Trace;
}

/** One run, and what kind it is. */
type Run = readonly [kind: string, run: (watched: Watched) => Promise<void>];

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
  const sqlite = engine === "sqlite" || engine === "both" ? await SqliteDisks.open() : undefined;
  const runOf = (seed: number): Run => {
    if (engine === "rails") return ["rails", (watched) => simulateRails(seed, watched)];
    const isOnSqlite = sqlite !== undefined && (engine === "sqlite" || seed % SQLITE_EVERY === 0);
    return isOnSqlite
      ? ["on SQLite", (watched) => simulate(seed, sqlite.make, watched)]
      : ["in memory", (watched) => simulate(seed, makeMemoryDisk, watched)];
  };
  let shortest: Failure | undefined;
  try {
    let end = first + runs;
    for (let seed = first; seed < end; seed += 1) {
      const error = await errorOf(runOf(seed), { tally, trace: new Trace({ kept: false }) });
      if (error === undefined) continue;
      if (shortest === undefined) end = Math.min(end, seed + (bail ? 1 : SHORTER_TRIES));
      // The seed decides everything, so a second run takes the same steps, and records them.
      const trace = new Trace({ kept: true });
      const again = await errorOf(runOf(seed), { tally: new Tally(), trace });
      if (shortest === undefined || trace.lines.length < shortest.steps.length) {
        shortest = { seed, error, again, steps: trace.lines };
      }
    }
    return shortest;
  } finally {
    sqlite?.dispose();
  }
}

async function errorOf([kind, run]: Run, { tally, trace }: Watched): Promise<Error | undefined> {
  tally.count("runs", kind);
  try {
    await run({ tally, trace });
    return undefined;
  } catch (error) {
    if (error instanceof Violation) tally.count("violations", error.kind);
    return error instanceof Error ? error : new Error(String(error));
  }
}
