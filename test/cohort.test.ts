import { expect } from "chai";

import { atEndOfTurn, Cohort } from "../src/cohort.js";

describe("a cohort", () => {
  /** What was done, in groups, and how to let the schedule come. */
  function gathering(enough?: number) {
    const done: number[][] = [];
    const due: (() => void)[] = [];
    const cohort = new Cohort<number>({
      schedule: (callback) => void due.push(callback),
      ...(enough === undefined ? {} : { enough }),
      doAll: (items) => done.push([...items]),
    });
    const addAll = (...items: number[]): void => {
      for (const item of items) cohort.add(item);
    };
    const comeDue = (): void => {
      for (const callback of due.splice(0)) callback();
    };
    return { cohort, done, addAll, comeDue };
  }

  it("does what has gathered together and in order, when it is due and not before", () => {
    const { done, addAll, comeDue } = gathering();
    addAll(1, 2, 3);
    expect(done).to.deep.equal([]);
    comeDue();
    expect(done).to.deep.equal([[1, 2, 3]]);
  });

  it("begins anew afterwards", () => {
    const { done, addAll, comeDue } = gathering();
    addAll(1);
    comeDue();
    addAll(2, 3);
    comeDue();
    expect(done).to.deep.equal([[1], [2, 3]]);
  });

  it("waits no longer than until enough has gathered, and then does nothing twice", () => {
    const { done, addAll, comeDue } = gathering(2);
    addAll(1, 2, 3);
    expect(done).to.deep.equal([[1, 2]]);
    comeDue();
    expect(done).to.deep.equal([[1, 2], [3]]);
    comeDue();
    expect(done).to.deep.equal([[1, 2], [3]]);
  });

  it("does at once what has gathered when it is told to, and nothing when nothing has", () => {
    const { cohort, done, addAll, comeDue } = gathering();
    addAll(1, 2);
    cohort.flush();
    cohort.flush();
    comeDue();
    expect(done).to.deep.equal([[1, 2]]);
  });

  it("gathers anew what is added while it is at work", () => {
    const done: string[][] = [];
    const due: (() => void)[] = [];
    const cohort = new Cohort<string>({
      schedule: (callback) => void due.push(callback),
      doAll: (items) => {
        done.push([...items]);
        if (items.includes("first")) cohort.add("second");
      },
    });
    cohort.add("first");
    due.shift()?.();
    expect(done).to.deep.equal([["first"]]);
    due.shift()?.();
    expect(done).to.deep.equal([["first"], ["second"]]);
  });

  it("takes all that one turn of the event loop brings", async () => {
    const done: number[][] = [];
    const cohort = new Cohort<number>({ schedule: atEndOfTurn, doAll: (items) => done.push([...items]) });
    cohort.add(1);
    await Promise.resolve();
    cohort.add(2);
    await new Promise(setImmediate);
    expect(done).to.deep.equal([[1, 2]]);
  });
});
