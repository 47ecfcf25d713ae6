import { expect } from "chai";

import type { Reader } from "../../src/storage/sql/reader.js";
import { pacedRows } from "../../src/verify/pace.js";

/** A reader whose statements take the given time, and the rests that its pace asked for. */
function given(
  statementMillis: readonly number[],
  engine: "sqlite" | "postgres" = "postgres",
): {
  rows: Reader["rows"];
  rests: number[];
  work: (millis: number) => void;
} {
  const rests: number[] = [];
  const left = [...statementMillis];
  let [time, processorMillis] = [0, 0];
  const reader = {
    rows: () => {
      const millis = left.shift();
      if (millis === undefined) return Promise.reject(new Error("no statement is left"));
      time += millis;
      return Promise.resolve([]);
    },
  };
  const pace = {
    now: () => time,
    processorMillis: () => processorMillis,
    restAfter: (millis: number) => Promise.resolve(rests.push(millis)),
  };
  const work = (millis: number): void => {
    processorMillis += millis;
  };
  return { rows: pacedRows(reader, { name: engine }, pace), rests, work };
}

describe("pacedRows", () => {
  it("rests before each statement for the statement before it", async () => {
    const { rows, rests } = given([20, 30, 40]);
    for (let count = 0; count < 3; count += 1) await rows("SELECT 1");
    expect(rests).to.deep.equal([20, 30]);
  });

  it("rests for the processor time between two statements, too", async () => {
    const { rows, rests, work } = given([20, 30]);
    await rows("SELECT 1");
    work(5);
    await rows("SELECT 1");
    expect(rests).to.deep.equal([25]);
  });

  it("counts of a statement in this process the processor's time alone: beside other work it waits", async () => {
    const { rows, rests, work } = given([20_000, 30_000], "sqlite");
    await rows("SELECT 1");
    work(5);
    await rows("SELECT 1");
    expect(rests).to.deep.equal([5]);
  });

  it("saves up what is shorter than a millisecond", async () => {
    const { rows, rests } = given([0.25, 0.5, 0.5, 4, 0]);
    for (let count = 0; count < 5; count += 1) await rows("SELECT 1");
    expect(rests).to.deep.equal([1.25, 4]);
  });

  it("rests for a statement that failed", async () => {
    const { rows, rests, work } = given([]);
    work(2);
    await rows("SELECT 1").catch(() => undefined);
    work(3);
    await rows("SELECT 1").catch(() => undefined);
    expect(rests).to.deep.equal([2, 3]);
  });
});
