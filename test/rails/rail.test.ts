import { expect } from "chai";

import { type Sent, sentAgain } from "../../src/rails/rail.js";

describe("the answer to a repeated request", () => {
  const cases: [Sent, Sent][] = [
    [
      { kind: "accepted", railReference: "AG_1" },
      { kind: "accepted", railReference: "AG_1" },
    ],
    [
      { kind: "rejected", code: "400.002.02", failure: "RAIL_REFUSED" },
      { kind: "unknown", code: "400.002.02" },
    ],
    [
      { kind: "unreached", code: "ECONNREFUSED", retryAfterMillis: 1 },
      { kind: "unknown", code: "ECONNREFUSED" },
    ],
    [
      { kind: "unknown", code: "ECONNRESET" },
      { kind: "unknown", code: "ECONNRESET" },
    ],
  ];
  for (const [sent, order] of cases) {
    it(`says about the order, if it is ${sent.kind}: ${order.kind}`, () => {
      expect(sentAgain(sent)).to.deep.equal(order);
    });
  }
});
