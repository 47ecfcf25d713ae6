import { expect } from "chai";

import { Pace } from "../../../bench/load/pace.js";

/** The start times of the calls that are due at `now`. */
function takeAll(pace: Pace, now: number): number[] {
  const times: number[] = [];
  while (pace.isDue(now)) times.push(pace.take(now));
  return times;
}

describe("the pace of a load", () => {
  it("has exactly as many calls due as the rate says, however seldom it is asked", () => {
    const pace = new Pace(1_000, 500);
    const taken = [500, 500.5, 501, 507, 600].map((now) => takeAll(pace, now).length);
    expect(taken).to.deep.equal([1, 0, 1, 6, 93]);
  });

  it("counts the time of a call that is only a timer late from its start", () => {
    const pace = new Pace(1_000, 0);
    expect(takeAll(pace, 2)).to.deep.equal([2, 2, 2]);
  });

  it("counts the time of a call that had to wait from when it was due", () => {
    const pace = new Pace(1_000, 0);
    expect(takeAll(pace, 5)).to.deep.equal([0, 1, 2, 5, 5, 5]);
  });
});
