import { expect } from "chai";

import { atEndOfTask, atEndOfTurn, endOfTurn, MicroBatch } from "../../runtime/micro-batch.js";

describe("a micro-batch", () => {
  /** The batches that were processed, and how to let the schedule fire. */
  function collecting(sizeMax?: number) {
    const processed: number[][] = [];
    const scheduled: (() => void)[] = [];
    const batch = new MicroBatch<number>({
      schedule: (callback) => void scheduled.push(callback),
      ...(sizeMax === undefined ? {} : { sizeMax }),
      process: (items) => processed.push([...items]),
    });
    const addAll = (...items: number[]): void => {
      for (const item of items) batch.add(item);
    };
    const fireSchedule = (): void => {
      for (const callback of scheduled.splice(0)) callback();
    };
    return { batch, processed, addAll, fireSchedule };
  }

  it("processes the waiting items in order when the schedule fires, and not before", () => {
    const { processed, addAll, fireSchedule } = collecting();
    addAll(1, 2, 3);
    expect(processed).to.deep.equal([]);
    fireSchedule();
    expect(processed).to.deep.equal([[1, 2, 3]]);
  });

  it("starts a new batch afterwards", () => {
    const { processed, addAll, fireSchedule } = collecting();
    addAll(1);
    fireSchedule();
    addAll(2, 3);
    fireSchedule();
    expect(processed).to.deep.equal([[1], [2, 3]]);
  });

  it("processes a full batch at once, and no item twice", () => {
    const { processed, addAll, fireSchedule } = collecting(2);
    addAll(1, 2, 3);
    expect(processed).to.deep.equal([[1, 2]]);
    fireSchedule();
    expect(processed).to.deep.equal([[1, 2], [3]]);
    fireSchedule();
    expect(processed).to.deep.equal([[1, 2], [3]]);
  });

  it("processes the waiting items on flush, and never an empty batch", () => {
    const { batch, processed, addAll, fireSchedule } = collecting();
    addAll(1, 2);
    batch.flush();
    batch.flush();
    fireSchedule();
    expect(processed).to.deep.equal([[1, 2]]);
  });

  it("puts an item that is added during processing into the next batch", () => {
    const processed: string[][] = [];
    const scheduled: (() => void)[] = [];
    const batch = new MicroBatch<string>({
      schedule: (callback) => void scheduled.push(callback),
      process: (items) => {
        processed.push([...items]);
        if (items.includes("first")) batch.add("second");
      },
    });
    batch.add("first");
    scheduled.shift()?.();
    expect(processed).to.deep.equal([["first"]]);
    scheduled.shift()?.();
    expect(processed).to.deep.equal([["first"], ["second"]]);
  });

  for (const [name, schedule] of [
    ["turn of the event loop", atEndOfTurn],
    ["task, with its settled promises", atEndOfTask],
  ] as const) {
    it(`collects the items of one ${name}`, async () => {
      const processed: number[][] = [];
      const batch = new MicroBatch<number>({ schedule, process: (items) => processed.push([...items]) });
      await Promise.resolve();
      batch.add(1);
      await Promise.resolve();
      batch.add(2);
      await new Promise(setImmediate);
      expect(processed).to.deep.equal([[1, 2]]);
    });
  }
});

describe("the end of the turn", () => {
  it("comes for all callers of one turn at once, and again in the next turn", async () => {
    const events: string[] = [];
    const wait = async (name: string): Promise<void> => {
      await endOfTurn();
      events.push(name);
    };
    const first = wait("a");
    await Promise.resolve();
    const second = wait("b");
    setImmediate(() => events.push("next turn"));
    await Promise.all([first, second]);
    expect(events).to.deep.equal(["a", "b"]);
    await wait("c");
    expect(events).to.deep.equal(["a", "b", "next turn", "c"]);
  });
});
