import { setTimeout as sleep } from "node:timers/promises";

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

/** An audit takes a tenth of a core: it rests nine times as long as it worked. */
const REST = 9;
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
export const BESIDE_A_SERVER: Pace = { ...CLOCKS, restAfter: (workMillis) => sleep(workMillis * REST) };

export const FULL_SPEED: Pace = { ...CLOCKS, restAfter: () => Promise.resolve() };

/**
 * Returns a function that reads rows, and rests before each statement. It counts as work how long
 * each statement took, and the processor time of this process between statements. It does not
 * count how long this process waited for a processor between them.
 */
export function pacedRows(reader: Pick<Reader, "rows">, pace: Pace): Reader["rows"] {
  let workMillis = 0;
  let processorMillis = pace.processorMillis();
  return async (sql, bindings) => {
    workMillis += pace.processorMillis() - processorMillis;
    if (workMillis >= WORK_MILLIS_MIN) {
      await pace.restAfter(workMillis);
      workMillis = 0;
    }
    const startedAt = pace.now();
    try {
      return await reader.rows(sql, bindings);
    } finally {
      workMillis += pace.now() - startedAt;
      processorMillis = pace.processorMillis();
    }
  };
}
