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

  it("leave the event loop to the sockets between large requests, also when nobody else waits", async () => {
    const { turns, begun, add } = givenTurns();
    for (let count = 0; count < 3; count += 1) add("greedy", 100 * LARGE_BYTES);
    let loopTurns = 0;
    for (; turns.length > 0; loopTurns += 1) await setImmediate();
    expect(begun).to.have.length(3);
    // A large request uses 256 turns, and one turn of the event loop has 64.
    expect(loopTurns).to.be.within(9, 12);
  });

  it("begin one large request in a turn of the event loop, though several callers have one", async () => {
    const { begun, add } = givenTurns();
    for (const caller of ["a", "b", "c"]) add(caller, 100 * LARGE_BYTES);
    await setImmediate();
    expect(begun).to.deep.equal(["a"]);
  });

  it("of a caller are not taken up by the large requests of another", async () => {
    const { begun, add } = givenTurns();
    add("greedy", 100 * LARGE_BYTES);
    add("greedy", 100 * LARGE_BYTES);
    await setImmediate();
    for (let count = 0; count < 20; count += 1) add("modest");
    await setImmediate();
    expect(begun).to.deep.equal(["greedy", ...Array<string>(20).fill("modest")]);
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
