import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { Probe } from "../probe.js";
import { sampleOf } from "../report/series.js";

const BLOCK_BYTES = 4_096;
const BLOCKS = 1_024;

/**
 * The least cost of a commit: one block is written and on disk before the next is begun. The file
 * has its size from the start, as a write-ahead log in use has, so that only data goes to disk.
 */
export function blockWrites(folder: string): Probe {
  return {
    name: "write of 4 KiB + fdatasync",
    measure: (seconds) => {
      const block = Buffer.alloc(BLOCK_BYTES, 1);
      const file = openSync(join(folder, "blocks"), "w");
      for (let i = 0; i < BLOCKS; i++) writeSync(file, block, 0, BLOCK_BYTES, i * BLOCK_BYTES);
      fdatasyncSync(file);
      const latencies: number[] = [];
      const from = performance.now();
      let now = from;
      while (now - from < seconds * 1000) {
        writeSync(file, block, 0, BLOCK_BYTES, (latencies.length % BLOCKS) * BLOCK_BYTES);
        fdatasyncSync(file);
        const end = performance.now();
        latencies.push(end - now);
        now = end;
      }
      closeSync(file);
      return Promise.resolve(sampleOf(latencies, (now - from) / 1000));
    },
  };
}
