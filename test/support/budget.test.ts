import { expect } from "chai";

import { BUDGETS, tooDear } from "./budget.js";

describe("the budget of tests", () => {
  it("names the run and each file that took more than the stage allows, on a machine half as fast", () => {
    const { run, file } = BUDGETS.check;
    const secondsOf = (calibrations: number): number => calibrations * 2;
    const files = [
      { file: "cheap.test.js", cpuSeconds: secondsOf(file) },
      { file: "dear.test.js", cpuSeconds: secondsOf(file + 1) },
    ];
    expect(tooDear("check", 2, { cpuSeconds: secondsOf(run), files })).to.deep.equal([
      `dear.test.js took ${String(file + 1)} calibrations; allowed are ${String(file)}`,
    ]);
    expect(tooDear("check", 2, { cpuSeconds: secondsOf(run + 1), files: [] })).to.deep.equal([
      `the run took ${String(run + 1)} calibrations; allowed are ${String(run)}`,
    ]);
  });
});
