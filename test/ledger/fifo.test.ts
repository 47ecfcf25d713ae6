import { expect } from "chai";

import { Fifo } from "../../src/ledger/fifo.js";
import { ALL_BYTES, type Item, promotedBytes } from "../support/promoted-bytes.js";

describe("a line: first in, first out", () => {
  it("gives what is in it in the order in which it came, and then nothing", () => {
    const line = new Fifo<number>();
    for (const item of [1, 2, 3]) line.push(item);
    expect([line.shift(), line.shift(), line.length]).to.deep.equal([1, 2, 1]);
    line.push(4);
    expect([line.shift(), line.shift(), line.shift(), line.length]).to.deep.equal([3, 4, undefined, 0]);
    line.push(5);
    expect(line.shift()).to.equal(5);
  });

  it("lets go of what has been taken out, however old it is", async () => {
    const line = new Fifo<Item>();
    line.push([]);
    const bytes = await promotedBytes((item) => {
      line.push(item);
      line.shift();
    });
    expect(bytes).to.be.lessThan(ALL_BYTES / 4);
  });
});
