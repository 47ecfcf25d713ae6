import { expect } from "chai";

import { type EventBlock, Tail } from "../../src/events/tail.js";

/** A block with these events, whose message has 10 bytes for each. */
function block(after: number, upTo: number): EventBlock {
  return { after, upTo, events: [], message: Buffer.alloc((upTo - after) * 10) };
}

describe("the tail of a book", () => {
  it("is behind for everybody until it has begun, and has nothing at its end", () => {
    const tail = new Tail();
    expect(tail.blockAfter(0)).to.equal("behind");
    tail.beginAfter(7);
    tail.beginAfter(9);
    expect(tail.head).to.equal(7);
    expect([6, 7, 8].map((sequence) => tail.blockAfter(sequence))).to.deep.equal(["behind", undefined, undefined]);
  });

  it("returns the block that has the next event, also from within a block", () => {
    const tail = new Tail();
    tail.beginAfter(7);
    const blocks = [block(7, 8), block(8, 11), block(11, 12)] as const;
    for (const each of blocks) tail.append(each, 1_000);
    expect([7, 8, 9, 10, 11].map((sequence) => tail.blockAfter(sequence))).to.deep.equal([
      blocks[0],
      blocks[1],
      blocks[1],
      blocks[1],
      blocks[2],
    ]);
    expect([tail.blockAfter(6), tail.blockAfter(12), tail.head]).to.deep.equal(["behind", undefined, 12]);
  });

  it("drops its oldest blocks beyond its bytes, for as long as it grows", () => {
    const tail = new Tail();
    tail.beginAfter(0);
    for (let upTo = 1; upTo <= 1_000; upTo += 1) {
      tail.append(block(upTo - 1, upTo), 50);
      const first = Math.max(0, upTo - 5);
      expect(tail.blockAfter(first)).to.include({ after: first });
      if (first > 0) expect(tail.blockAfter(first - 1)).to.equal("behind");
    }
  });

  it("keeps no block that is larger than all its room", () => {
    const tail = new Tail();
    tail.beginAfter(0);
    tail.append(block(0, 9), 50);
    expect([tail.blockAfter(0), tail.blockAfter(8), tail.blockAfter(9)]).to.deep.equal(["behind", "behind", undefined]);
    tail.append(block(9, 10), 50);
    expect(tail.blockAfter(9)).to.include({ after: 9 });
  });

  it("wakes those who wait at the next block, and when they leave", async () => {
    const tail = new Tail();
    tail.beginAfter(0);
    const leaving = new AbortController();
    const waits = [tail.wait(60_000, new AbortController().signal), tail.wait(60_000, leaving.signal)];
    leaving.abort();
    await waits[1];
    tail.append(block(0, 1), 50);
    await Promise.all(waits);
    await tail.wait(60_000, leaving.signal);
  });
});
