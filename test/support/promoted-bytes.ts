import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type CollectGarbage = (options: { readonly type: "minor" | "major" }) => void;

const ROUNDS = 200;
const TRIES_MAX = 10;
const ITEM_WORDS = 1_000;

/** One piece of memory of 8 KB, large enough to show in the statistics of the heap. */
export type Item = readonly number[];
/** The size of all `ROUNDS` items together. */
export const ALL_BYTES = ROUNDS * ITEM_WORDS * 8;

/**
 * Repeats the work, each time with a new item and a small garbage collection, and returns how many
 * bytes were promoted to the old generation. An item may live until the next one comes: then next
 * to nothing is promoted, unless an old object that is no longer used points to it.
 */
export async function promotedBytes(work: (item: Item) => unknown): Promise<number> {
  setFlagsFromString("--expose-gc");
  // V8 would allocate in the old generation at once where earlier items of this process lived long.
  setFlagsFromString("--no-allocation-site-pretenuring");
  const collect = runInNewContext("gc") as CollectGarbage;
  // What ran before in this process promotes bytes, too, until it has settled: the quietest counts.
  let least = Infinity;
  for (let tries = 0; tries < TRIES_MAX && least > ALL_BYTES / 10; tries += 1) {
    least = Math.min(least, await promotedBytesOnce(work, collect));
  }
  return least;
}

async function promotedBytesOnce(work: (item: Item) => unknown, collect: CollectGarbage): Promise<number> {
  const newItem = (): Item => new Array<number>(ITEM_WORDS).fill(0);
  // The first items are promoted, together with all that they need.
  for (let round = 0; round < 3; round += 1) await work(newItem());
  collect({ type: "major" });
  for (let round = 0; round < 3; round += 1) collect({ type: "minor" });
  const before = oldBytes();
  for (let round = 0; round < ROUNDS; round += 1) {
    await work(newItem());
    collect({ type: "minor" });
  }
  return oldBytes() - before;
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === "old_space")?.space_used_size ?? NaN;
}
