import { expect } from "chai";

import { tooDear } from "./budget.js";

const costs = [
  { file: "a.test.js", cpuSeconds: 48 },
  { file: "b.test.js", cpuSeconds: 52 },
  { file: "c.check.test.js", cpuSeconds: 118 },
  { file: "d.check.test.js", cpuSeconds: 122 },
];

describe("the budget of tests", () => {
  it("names each file that took more than its stage allows, on a machine half as fast", () => {
    expect(tooDear("check", costs, 2)).to.deep.equal([
      "b.test.js took 26.0 calibrations; allowed are 25",
      "d.check.test.js took 61.0 calibrations; allowed are 60",
    ]);
  });
});
