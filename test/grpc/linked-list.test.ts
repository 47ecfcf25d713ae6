import { expect } from "chai";

import { LinkedList } from "../../src/grpc/linked-list.js";
import { ALL_BYTES, type Item, promotedBytes } from "../support/promoted-bytes.js";

describe("a list that anything in it can leave", () => {
  it("keeps its order, whoever leaves: the first, the last, one amid the others", () => {
    const list = new LinkedList<string>();
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((item) => list.add(item));
    if (!a || !b || !c || !d || !e) throw new Error("nothing was added");
    const states = [c, a, e].map((link) => [list.remove(link), [...list].join("")]);
    expect(states).to.deep.equal([
      [true, "abde"],
      [true, "bde"],
      [true, "bd"],
    ]);
    list.add("f");
    expect([...list].join("")).to.equal("bdf");
    expect([list.remove(c), list.remove(b), list.remove(b), [...list].join("")]).to.deep.equal([
      false,
      true,
      false,
      "df",
    ]);
  });

  it("is empty again when all have left, and takes others", () => {
    const list = new LinkedList<string>();
    list.remove(list.add("a"));
    expect([...list]).to.deep.equal([]);
    list.add("b");
    expect([...list]).to.deep.equal(["b"]);
  });

  it("goes on when the item that it has just returned leaves", () => {
    const list = new LinkedList<number>();
    const links = [1, 2, 3].map((item) => list.add(item));
    const seen: number[] = [];
    for (const item of list) {
      seen.push(item);
      const link = links[item - 1];
      if (link !== undefined) list.remove(link);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect([...list]).to.deep.equal([]);
  });

  it("keeps no reference to an item that has left, however old it is", async () => {
    const list = new LinkedList<Item>();
    let last = list.add([]);
    const bytes = await promotedBytes((item) => {
      const link = list.add(item);
      list.remove(last);
      last = link;
    });
    expect(bytes).to.be.lessThan(ALL_BYTES / 4);
  });
});
