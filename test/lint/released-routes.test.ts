import { readFileSync } from "node:fs";

import { expect } from "chai";

import { routeList } from "../contract/route-list.js";

/** The released lines that a list of routes lacks: what it breaks (docs/versioning.md). */
function brokenBy(routes: readonly string[], released: readonly string[]): readonly string[] {
  return released.filter((line) => !routes.includes(line));
}

describe("the REST routes", () => {
  const released = readFileSync("proto/released-routes.txt", "utf8").trim().split("\n");

  it("have every released route as it was released", () => {
    expect(brokenBy(routeList(), released), "changed or removed routes").to.deep.equal([]);
  });

  it("would not pass without a released route, or with another rpc behind it", () => {
    const [first = "", ...others] = released;
    expect(brokenBy(others, released)).to.deep.equal([first]);
    expect(brokenBy([first.replace(/\w+ \| body/, "Other | body"), ...others], released)).to.deep.equal([first]);
  });

  it("may be more than the released ones", () => {
    expect(brokenBy([...released, "GET /new | /kesc.v1.NewService/Get"], released)).to.deep.equal([]);
  });
});
