import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type CollectGarbage = (options: { readonly type: "minor" | "major" }) => void;

const ROUNDS = 200;
const ITEM_WORDS = 1_000;

/** So much memory in one piece that it shows, 8 KB. */
export type Item = readonly number[];
/** What ROUNDS items are together. */
export const ALL_BYTES = ROUNDS * ITEM_WORDS * 8;

/**
 * Does the work over and over, each time with a new item and a small garbage collection, and
 * answers how many bytes have become old by it. Each item may live until the next is there: then
 * next to nothing becomes old, unless something old that is no longer used leads to it.
 */
export async function promotedBytes(work: (item: Item) => unknown): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as CollectGarbage;
  const newItem = (): Item => new Array<number>(ITEM_WORDS).fill(0);
  // The first grow old, and what belongs to them.
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
