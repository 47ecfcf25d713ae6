import { expect } from "chai";

import { growthFor } from "../../runtime/heap.js";
import { startProgram, withProgramFile } from "./program.js";

/** Replaces 30 MiB of old objects, one after the other, and prints the most that they took. */
const BODY = `
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
boundHeapGrowth(Number(PERCENT));
setFlagsFromString("--expose-gc");
const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === "old_space").space_size;
const kept = Array.from({ length: 4096 });
const replace = (index) => (kept[index % kept.length] = new Array(1000).fill(index));
for (let index = 0; index < kept.length; index += 1) replace(index);
runInNewContext("gc")();
let peak = 0;
for (let index = 0; index < 40_000; index += 1) {
  replace(index);
  if (index % 64 !== 0) continue;
  await new Promise(setImmediate);
  peak = Math.max(peak, oldBytes());
}
console.log(peak);
`;

describe("the growth of the heap", () => {
  it("is bounded for a program that runs already", async () => {
    expect(await peakWith(20)).to.be.lessThan((await peakWith(1_000)) / 1.5);
  });

  it("is small by default where there is less than 1 GiB", () => {
    expect([512, 1023, 1024, 24_576].map((mebibytes) => growthFor(mebibytes * 2 ** 20))).to.deep.equal([25, 25, 0, 0]);
  });

  it("is that of V8 with 0", async () => {
    expect(await peakWith(20)).to.be.lessThan((await peakWith(0)) / 1.5);
  });
});

/** Makes 30 MiB of objects and drops them. Prints the heap before, and when it has shrunk. */
const QUIET_BODY = `
import { getHeapStatistics } from "node:v8";
const bytes = () => getHeapStatistics().total_heap_size;
collectWhenQuiet(50);
let kept = Array.from({ length: 4096 }, (_, index) => new Array(1000).fill(index));
const full = bytes();
kept = undefined;
while (bytes() > full - 25 * 2 ** 20) await new Promise((resolve) => setTimeout(resolve, 20));
console.log("shrunk");
`;

describe("the heap of a thread without work", () => {
  it("is collected", async () => {
    await withProgramFile({ "heap.js": ["collectWhenQuiet"] }, QUIET_BODY, async (file) => {
      const { stdout, stderr } = await startProgram(file).ended;
      expect(stdout, stderr).to.equal("shrunk\n");
    });
  });
});

async function peakWith(percent: number): Promise<number> {
  const body = BODY.replace("PERCENT", String(percent));
  return withProgramFile({ "heap.js": ["boundHeapGrowth"] }, body, async (file) => {
    const { exit, stdout, stderr } = await startProgram(file).ended;
    expect(exit, stderr).to.equal(0);
    return Number(stdout);
  });
}
