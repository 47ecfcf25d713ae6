import { inspect } from "node:util";

import { expect } from "chai";

import { requestIdOf } from "../../runtime/request-id.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("the request id", () => {
  for (const sent of ["a", "Monday-morning_1.2:3", "x".repeat(128)]) {
    it(`is the caller's own: ${sent.slice(0, 30)}`, () => {
      expect(requestIdOf(sent)).to.equal(sent);
    });
  }

  for (const sent of [undefined, "", "x".repeat(129), "a b", "a,b", "a\n", "é", ["a"], Buffer.from("a")]) {
    it(`is a new one in place of ${inspect(sent).slice(0, 30)}`, () => {
      expect(requestIdOf(sent)).to.match(UUID);
      expect(requestIdOf(sent)).to.not.equal(requestIdOf(sent));
    });
  }
});
