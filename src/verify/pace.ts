import { setTimeout as sleep } from "node:timers/promises";

import type { Engine } from "../storage/sql/engine.js";
import type { Reader } from "../storage/sql/reader.js";

/** How much an audit takes of a machine. */
export interface Pace {
  /** Returns a time in milliseconds. It passes while the audit works, and while it waits. */
  now(): number;
  /** Returns the processor time of this process, in milliseconds. */
  processorMillis(): number;
  /** Waits after the audit has worked for this time, in milliseconds. */
  restAfter(workMillis: number): Promise<unknown>;
}

/** An audit takes a tenth of a core: it rests nine times as long as it worked … */
const REST = 9;
/** … and at most this long at once: beside other work a statement waits for most of its time. */
const REST_MILLIS_MAX = 10_000;
/** Shorter rests are saved up, because a timer takes a millisecond. */
const WORK_MILLIS_MIN = 1;

const CLOCKS = {
  now: () => performance.now(),
  processorMillis: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/** Leaves nine tenths of a core to a server. */
export const BESIDE_A_SERVER: Pace = {
  ...CLOCKS,
  restAfter: (workMillis) => sleep(Math.min(workMillis * REST, REST_MILLIS_MAX)),
};

export const FULL_SPEED: Pace = { ...CLOCKS, restAfter: () => Promise.resolve() };

/**
 * Returns a function that reads rows, and rests before each statement. It counts as work the
 * processor time of this process, in which SQLite runs, and how long each statement of PostgreSQL
 * took. It does not count how long this process waited for a processor.
 */
export function pacedRows(reader: Pick<Reader, "rows">, engine: Pick<Engine, "name">, pace: Pace): Reader["rows"] {
  const isElsewhere = engine.name === "postgres";
  let workMillis = 0;
  let processorMillis = pace.processorMillis();
  return async (sql, bindings) => {
    const usedMillis = pace.processorMillis();
    workMillis += usedMillis - processorMillis;
    processorMillis = usedMillis;
    if (workMillis >= WORK_MILLIS_MIN) {
      await pace.restAfter(workMillis);
      workMillis = 0;
    }
    const startedAt = pace.now();
    try {
      return await reader.rows(sql, bindings);
    } finally {
      if (isElsewhere) {
        workMillis += pace.now() - startedAt;
        processorMillis = pace.processorMillis();
      }
    }
  };
}
