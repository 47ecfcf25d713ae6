import { expect } from "chai";

import { Queue } from "../../runtime/queue.js";
import { ALL_BYTES, type Item, promotedBytes } from "../support/promoted-bytes.js";

describe("a queue", () => {
  it("is first in, first out, and then empty", () => {
    const queue = new Queue<number>();
    for (const item of [1, 2, 3]) queue.push(item);
    expect([queue.first, queue.shift(), queue.shift(), queue.length]).to.deep.equal([1, 1, 2, 1]);
    queue.push(4);
    expect([queue.shift(), queue.shift(), queue.shift(), queue.first, queue.length]).to.deep.equal([
      3,
      4,
      undefined,
      undefined,
      0,
    ]);
    queue.push(5);
    expect(queue.shift()).to.equal(5);
  });

  it("keeps its order when the first, the last, or an item between them leaves", () => {
    const queue = new Queue<string>();
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((item) => queue.push(item));
    if (!a || !b || !c || !d || !e) throw new Error("nothing was added");
    const states = [c, a, e].map((link) => [queue.remove(link), [...queue].join(""), queue.length]);
    expect(states).to.deep.equal([
      [true, "abde", 4],
      [true, "bde", 3],
      [true, "bd", 2],
    ]);
    queue.push("f");
    expect([...queue].join("")).to.equal("bdf");
    expect([queue.remove(c), queue.remove(b), queue.remove(b), [...queue].join("")]).to.deep.equal([
      false,
      true,
      false,
      "df",
    ]);
  });

  it("does not remove an item that shift has returned", () => {
    const queue = new Queue<string>();
    const link = queue.push("a");
    queue.push("b");
    queue.shift();
    expect([queue.remove(link), queue.length, queue.first]).to.deep.equal([false, 1, "b"]);
  });

  it("is empty when all items have left, and takes others", () => {
    const queue = new Queue<string>();
    queue.remove(queue.push("a"));
    expect([[...queue], queue.length]).to.deep.equal([[], 0]);
    queue.push("b");
    expect([...queue]).to.deep.equal(["b"]);
  });

  it("goes on iterating when the item that it has just given leaves", () => {
    const queue = new Queue<number>();
    const links = [1, 2, 3].map((item) => queue.push(item));
    const seen: number[] = [];
    for (const item of queue) {
      seen.push(item);
      const link = links[item - 1];
      if (link !== undefined) queue.remove(link);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect([...queue]).to.deep.equal([]);
  });

  it("keeps nothing alive that was shifted, however old it is", async () => {
    const queue = new Queue<Item>();
    queue.push([]);
    const bytes = await promotedBytes((item) => {
      queue.push(item);
      queue.shift();
    });
    expect(bytes).to.be.lessThan(ALL_BYTES / 4);
  });

  it("keeps nothing alive that was removed, however old it is", async () => {
    const queue = new Queue<Item>();
    let last = queue.push([]);
    const bytes = await promotedBytes((item) => {
      const link = queue.push(item);
      queue.remove(last);
      last = link;
    });
    expect(bytes).to.be.lessThan(ALL_BYTES / 4);
  });
});
