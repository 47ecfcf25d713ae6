import { totalmem } from "node:os";
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** With less memory, a program trades processor time for it. */
export const SMALL_MACHINE_BYTES = 2 ** 30;

/**
 * Bounds how far a heap of this process grows between two full collections, in percent of what the
 * last one left; 0 leaves it to V8, which lets the heap of a busy program grow to four times its
 * content: 92 MiB for 28. A bound of 100 costs a mint 8 % of its processor time (docs/adr/0073).
 *
 * Holds for all threads, those that run already as well.
 */
export function boundHeapGrowth(percent = growthFor(memoryBytes())): void {
  setFlagsFromString(`--heap-growing-percent=${String(percent)}`);
}

/** Returns the default for a machine, or a container, with this much memory. */
export function growthFor(bytes: number): number {
  return bytes < SMALL_MACHINE_BYTES ? 25 : 0;
}

/**
 * Returns the memory of the machine, or the limit of its container if that is less. Without a limit
 * Node says 0, or a number beyond all memory.
 */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const LOOK_MILLIS = 5_000;
const QUIET_UTILIZATION = 0.1;
/** A heap that has grown by less than this factor since the last collection is not collected. */
const WORTH = 1.1;

/**
 * Collects the heap of this thread once it has been quiet for two looks: V8 gives the young
 * generation back only when little was allocated for some seconds. By itself it collects when
 * memory is asked for, so a program without work keeps what its last load took.
 */
export function collectWhenQuiet(lookMillis = LOOK_MILLIS): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  const heapBytes = (): number => getHeapStatistics().total_heap_size;
  let leftBytes = 0;
  let wasQuiet = false;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const isQuiet = performance.eventLoopUtilization(before).utilization < QUIET_UTILIZATION;
    before = performance.eventLoopUtilization();
    if (isQuiet && wasQuiet && heapBytes() > leftBytes * WORTH) {
      collect();
      leftBytes = heapBytes();
    }
    wasQuiet = isQuiet;
  }, lookMillis).unref();
}
