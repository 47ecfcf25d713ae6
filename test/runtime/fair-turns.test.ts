import { setImmediate } from "node:timers/promises";

import { expect } from "chai";

import { FairTurns } from "../../runtime/fair-turns.js";

const LARGE_BYTES = 5_120;

/** Turns with a list of the calls that have begun. */
function givenTurns() {
  const turns = new FairTurns();
  const begun: string[] = [];
  const add = (caller: string, requestBytes = 0): void => {
    turns.add(caller, requestBytes, () => begun.push(caller));
  };
  return { turns, begun, add };
}

describe("the turns of calls", () => {
  it("go to callers in turn, whoever has more calls", async () => {
    const { begun, add } = givenTurns();
    for (let count = 0; count < 10; count += 1) add("greedy");
    for (let count = 0; count < 3; count += 1) add("modest");
    await setImmediate();
    const expected = ["greedy", "modest", "greedy", "modest", "greedy", "modest"];
    expect(begun.slice(0, 6)).to.deep.equal(expected);
    expect(begun).to.have.length(13);
  });

  it("are skipped after a large request, while others wait", async () => {
    const { begun, add } = givenTurns();
    for (let count = 0; count < 2; count += 1) add("greedy", LARGE_BYTES);
    for (let count = 0; count < 12; count += 1) add("modest");
    await setImmediate();
    expect(begun.lastIndexOf("greedy")).to.equal(12);
    expect(begun).to.have.length(14);
  });

  it("are skipped by nobody who is alone", async () => {
    const { begun, add } = givenTurns();
    for (let count = 0; count < 20; count += 1) add("greedy", LARGE_BYTES);
    await setImmediate();
    expect(begun).to.have.length(20);
  });

  it("keep the order of a caller's calls", async () => {
    const { turns } = givenTurns();
    const begun: number[] = [];
    for (let serial = 0; serial < 100; serial += 1) turns.add("a", 0, () => begun.push(serial));
    await setImmediate();
    expect(begun).to.deep.equal(Array.from({ length: 100 }, (_, serial) => serial));
  });

  it("begin 32 calls at once, and 64 in one turn of the event loop", async () => {
    const { turns, begun, add } = givenTurns();
    for (let count = 0; count < 31; count += 1) add("greedy");
    expect(begun).to.have.length(0);
    add("greedy");
    expect(begun).to.have.length(32);
    for (let count = 32; count < 1_000; count += 1) add("greedy");
    expect(begun).to.have.length(64);
    add("modest");
    await setImmediate();
    expect(begun).to.have.length(128);
    expect(begun.indexOf("modest")).to.be.within(64, 66);
    while (turns.length > 0) await setImmediate();
    expect(begun).to.have.length(1_001);
  });
});
