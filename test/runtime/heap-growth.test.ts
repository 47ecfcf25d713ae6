import { expect } from "chai";

import { growthFor } from "../../runtime/heap-growth.js";
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
    expect([512, 1023, 1024, 24_576].map((mebibytes) => growthFor(mebibytes * 2 ** 20))).to.deep.equal([
      25, 25, 100, 100,
    ]);
  });

  it("is that of V8 with 0", async () => {
    expect(await peakWith(20)).to.be.lessThan((await peakWith(0)) / 1.5);
  });
});

async function peakWith(percent: number): Promise<number> {
  const body = BODY.replace("PERCENT", String(percent));
  return withProgramFile({ "heap-growth.js": ["boundHeapGrowth"] }, body, async (file) => {
    const { exit, stdout, stderr } = await startProgram(file).ended;
    expect(exit, stderr).to.equal(0);
    return Number(stdout);
  });
}
