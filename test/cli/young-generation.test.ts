import { expect } from "chai";

import { optionsFor } from "../../src/cli/young-generation.js";

const GIBIBYTE = 2 ** 30;

describe("the young generation of kesc", () => {
  for (const [what, given, bytes, expected] of [
    ["is that of the first line on a gibibyte", ["--max-semi-space-size=64"], GIBIBYTE, undefined],
    [
      "is V8's default below, and other options stay",
      ["--trace-warnings", "--max-semi-space-size=64"],
      GIBIBYTE - 1,
      ["--trace-warnings", "--max-semi-space-size=16"],
    ],
    ["is what an operator chose", ["--max-semi-space-size=32"], GIBIBYTE / 2, undefined],
    ["is V8's default if nobody chose one", [], GIBIBYTE / 2, undefined],
  ] as const) {
    it(what, () => {
      expect(optionsFor(given, bytes)).to.deep.equal(expected);
    });
  }
});
