import { readFileSync } from "node:fs";

import { expect } from "chai";

import { MUTANTS } from "../attack/mutants/mutants.js";
import { plant } from "../attack/mutants/plant.js";

describe("the planted bugs", () => {
  it("fit the code as it is", () => {
    const misfits = MUTANTS.flatMap((mutant) => {
      try {
        const code = readFileSync(`dist/${mutant.file}`, "utf8");
        return plant(mutant, code) === code ? [`${mutant.name}: changes nothing`] : [];
      } catch (error) {
        return [`${mutant.name}: ${String(error)}`];
      }
    });
    expect(misfits).to.deep.equal([]);
  });
});
