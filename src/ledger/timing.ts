import { setTimeout as sleep } from "node:timers/promises";

import { atEndOfTask } from "../../runtime/micro-batch.js";

/** How the queue waits. A port, so that a simulation decides what comes first, and repeats it. */
export interface Waits {
  /** Calls back when what is running now, and may submit more, has run to its end. */
  afterThis(callback: () => void): void;
  /** A short while, never the same for two servers: they must not meet again in the same race. */
  afterLostRace(): Promise<unknown>;
}

const LOST_RACE_MILLIS_MAX = 20;

export const REAL_WAITS: Waits = {
  afterThis: atEndOfTask,
  afterLostRace: () => sleep(Math.random() * LOST_RACE_MILLIS_MAX),
};
