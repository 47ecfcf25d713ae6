import { expect } from "chai";

import { parsePathTemplate, patternOf } from "../../contract/path-template.js";

describe("the pattern of a path", () => {
  const pattern = patternOf(parsePathTemplate("/a.b-c/{token}/end"));

  for (const [path, matches] of [
    ["/a.b-c/x/end", true],
    ["/v1/a.b-c/x/end", true],
    ["/v2/a.b-c/x/end", false],
    ["/aXb-c/x/end", false],
    ["/a.b-c//end", false],
    ["/a.b-c/x/y/end", false],
    ["/a.b-c/x/end/", false],
    ["/A.b-c/x/end", false],
    ["/x/a.b-c/x/end", false],
  ] as const) {
    it(`${matches ? "matches" : "does not match"} ${path}`, () => {
      expect(pattern.test(path)).to.equal(matches);
    });
  }
});
