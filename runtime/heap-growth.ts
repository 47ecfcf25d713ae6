import { totalmem } from "node:os";
import { setFlagsFromString } from "node:v8";

/** With less memory, a program trades processor time for it. */
export const SMALL_MACHINE_BYTES = 2 ** 30;

/**
 * Bounds how far a heap of this process grows between two full collections, in percent of what the
 * last one left; 0 leaves it to V8. V8 lets the heap of a busy program grow to four times its
 * content, and keeps it: 92 MiB for 28 (docs/adr/0073).
 *
 * Holds for all threads, those that run already as well.
 */
export function boundHeapGrowth(percent = growthFor(memoryBytes())): void {
  setFlagsFromString(`--heap-growing-percent=${String(percent)}`);
}

/** Returns the default for a machine, or a container, with this much memory. */
export function growthFor(bytes: number): number {
  return bytes < SMALL_MACHINE_BYTES ? 25 : 100;
}

/**
 * Returns the memory of the machine, or the limit of its container if that is less. Without a limit
 * Node says 0, or a number beyond all memory.
 */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
