import { expect } from "chai";
import fc from "fast-check";

import { FairQueue } from "../../runtime/fair-queue.js";

describe("a fair queue", () => {
  function pushed(lengthMax: number, keys: string): { queue: FairQueue<string, string>; taken: boolean[] } {
    const queue = new FairQueue<string, string>(lengthMax);
    const taken = Array.from(keys, (key, index) => queue.push(key, `${key}${String(index)}`));
    return { queue, taken };
  }

  function drained(queue: FairQueue<string, string>): string[] {
    return Array.from({ length: queue.length }, () => queue.shift() ?? "nothing");
  }

  it("is first in, first out for one key alone", () => {
    const { queue } = pushed(100, "aaa");
    expect(drained(queue)).to.deep.equal(["a0", "a1", "a2"]);
    expect(queue.shift()).to.equal(undefined);
  });

  it("lets keys take turns, however many one has pushed before the others came", () => {
    const { queue } = pushed(100, "aaaabbc");
    expect(drained(queue)).to.deep.equal(["a0", "b4", "c6", "a1", "b5", "a2", "a3"]);
  });

  it("shows the first item of each key", () => {
    const { queue } = pushed(100, "aabbc");
    expect([...queue.heads()]).to.have.members(["a0", "b2", "c4"]);
    queue.shift();
    expect([...queue.heads()]).to.have.members(["a1", "b2", "c4"]);
    expect([...pushed(1, "").queue.heads()]).to.deep.equal([]);
  });

  it("does not let a key jump the others by coming back", () => {
    const { queue } = pushed(100, "abb");
    expect(queue.shift()).to.equal("a0");
    queue.push("a", "a3");
    expect(drained(queue)).to.deep.equal(["b1", "a3", "b2"]);
  });

  it("gives one key alone half of the room, and keeps the rest for others", () => {
    const { queue, taken } = pushed(10, "aaaaaaabbbbcccc");
    expect(taken.map(Number).join("")).to.equal("111110011101000");
    expect(queue.length).to.equal(9);
  });

  it("has room for one, if for no more", () => {
    expect(pushed(1, "aab").taken).to.deep.equal([true, false, false]);
  });

  it("takes from a key again once some of its own have gone", () => {
    const { queue } = pushed(4, "aa");
    expect(queue.push("a", "again")).to.equal(false);
    queue.shift();
    expect(queue.push("a", "again")).to.equal(true);
  });

  /** Any mix of pushes by five keys and of takings. */
  const steps = fc.array(fc.oneof(fc.constantFrom("a", "b", "c", "d", "e"), fc.constant("take" as const)), {
    maxLength: 400,
  });

  it("loses nothing, doubles nothing and keeps each key's order, within its bounds, whatever happens", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), steps, (lengthMax, plan) => {
        const queue = new FairQueue<string, readonly [key: string, serial: number]>(lengthMax);
        const lines = new Map<string, number[]>();
        const lengthOf = (key: string): number => lines.get(key)?.length ?? 0;
        plan.forEach((step, serial) => {
          if (step === "take") {
            const [key = "", taken] = queue.shift() ?? [];
            expect(taken).to.equal(lines.get(key)?.shift());
          } else {
            const fits = lengthOf(step) < lengthMax - queue.length;
            expect(queue.push(step, [step, serial])).to.equal(fits);
            if (fits) lines.set(step, [...(lines.get(step) ?? []), serial]);
          }
          expect(queue.length).to.equal([...lines.keys()].reduce((sum, key) => sum + lengthOf(key), 0));
          expect(queue.length).to.be.at.most(lengthMax);
        });
      }),
    );
  });

  it("serves a key that waits before any other twice, whatever happens", () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const queue = new FairQueue<string, string>(1_000);
        // How often each other key was served since a key that waits was served, or began to wait.
        const waiting = new Map<string, Map<string, number>>();
        const lengths = new Map<string, number>();
        for (const step of plan) {
          const key = step === "take" ? queue.shift() : step;
          if (key === undefined) continue;
          const before = lengths.get(key) ?? 0;
          lengths.set(key, step === "take" ? before - 1 : before + 1);
          if (step !== "take") {
            queue.push(key, key);
            if (before === 0) waiting.set(key, new Map());
            continue;
          }
          for (const [other, served] of waiting) {
            if (other === key) continue;
            served.set(key, (served.get(key) ?? 0) + 1);
            expect(served.get(key), `${key} while ${other} waits`).to.be.at.most(1);
          }
          if (before === 1) waiting.delete(key);
          else waiting.set(key, new Map());
        }
      }),
    );
  });

  it("keeps room for a newcomer, however greedy the others are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 200, max: 2_000 }), (greedy, lengthMax) => {
        const queue = new FairQueue<number, number>(lengthMax);
        // Each pushes all that it may, and one is taken, until the shares no longer change.
        for (let round = 0; round < 4 * lengthMax; round += 1) {
          for (let key = 0; key < greedy; key += 1) while (queue.push(key, key));
          queue.shift();
        }
        let newcomers = 0;
        while (queue.push(-1, -1)) newcomers += 1;
        // The others have left as much as each of them has, and a line may fill half of what is
        // left; rounding takes some.
        expect(newcomers).to.be.at.least(Math.floor(lengthMax / (greedy + 1) / 4));
      }),
      { numRuns: 20 },
    );
  });
});
