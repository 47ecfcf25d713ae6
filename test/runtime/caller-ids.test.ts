import { inspect } from "node:util";

import { expect } from "chai";

import { requestIdOf, traceIdOf, traceParentOf, traceParentText } from "../../runtime/caller-ids.js";

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

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";

describe("the trace id", () => {
  for (const sent of [`00-${TRACE_ID}-${SPAN_ID}-01`, `01-${TRACE_ID}-${SPAN_ID}-01-more`]) {
    it(`is read from ${sent}`, () => {
      expect(traceIdOf(sent)).to.equal(TRACE_ID);
    });
  }

  it("comes with the caller's span, and whether the caller records it", () => {
    const parent = { traceId: TRACE_ID, spanId: SPAN_ID };
    expect(traceParentOf(`00-${TRACE_ID}-${SPAN_ID}-00`)).to.deep.equal({ ...parent, isSampled: false });
    expect(traceParentOf(`00-${TRACE_ID}-${SPAN_ID}-03`)).to.deep.equal({ ...parent, isSampled: true });
    expect(traceParentText({ ...parent, isSampled: true })).to.equal(`00-${TRACE_ID}-${SPAN_ID}-01`);
    expect(traceParentText({ ...parent, isSampled: false })).to.equal(`00-${TRACE_ID}-${SPAN_ID}-00`);
  });

  for (const sent of [
    undefined,
    "",
    TRACE_ID,
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${"0".repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${"0".repeat(16)}-01`,
    `00-+254712345678-${SPAN_ID}-01`,
    [`00-${TRACE_ID}-${SPAN_ID}-01`],
  ]) {
    it(`is none for ${inspect(sent)}`, () => {
      expect(traceIdOf(sent)).to.equal(undefined);
    });
  }
});
