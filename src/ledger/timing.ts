import { setTimeout as sleep } from "node:timers/promises";

import { atEndOfTask } from "../../runtime/micro-batch.js";

/**
 * The queue's access to time. It is a port, so that the crash simulation can choose the order of
 * events and repeat it.
 */
export interface Timing {
  /** Calls back when the running code, which may submit more commands, has returned. */
  atEndOfTask(callback: () => void): void;
  /** Waits for a short random time. Two servers then do not meet in the same conflict again. */
  pauseAfterConflict(): Promise<unknown>;
  rest(millis: number): Promise<unknown>;
}

const CONFLICT_PAUSE_MILLIS_MAX = 20;

export const REAL_TIMING: Timing = {
  atEndOfTask,
  pauseAfterConflict: () => sleep(Math.random() * CONFLICT_PAUSE_MILLIS_MAX),
  rest: (millis) => sleep(millis),
};
