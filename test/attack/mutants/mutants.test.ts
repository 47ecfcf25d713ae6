import { readFileSync } from "node:fs";

import { expect } from "chai";

import { MUTANTS } from "./mutants.js";
import { plant } from "./plant.js";

describe("the planted bugs", () => {
  for (const mutant of MUTANTS) {
    it(`fit the code as it is: ${mutant.name}`, () => {
      const code = readFileSync(`dist/${mutant.file}`, "utf8");
      expect(plant(mutant, code)).not.to.equal(code);
    });
  }
});
