import { expect } from "chai";

import { rowsOf } from "../../../bench/report/report.js";
import type { Sample } from "../../../bench/report/series.js";

const sample = (callsPerSecond: number, p99Millis: number | null): Sample => ({
  callsPerSecond,
  p50Millis: null,
  p99Millis,
  loadBusy: null,
  mainMicros: null,
  otherMicros: null,
});

describe("the verdict on a measurement with a bound", () => {
  for (const [name, measured, verdict] of [
    ["keeps a bound that it just reaches", sample(60, 50), "kept"],
    ["is beyond it by the rate", sample(59, 50), "BEYOND"],
    ["is beyond it by the p99", sample(60, 51), "BEYOND"],
    ["is beyond it if nothing was measured", sample(60, null), "BEYOND"],
  ] as const) {
    it(name, () => {
      const peace = { name: "peace", yardstick: null, samples: [sample(100, 10)] };
      const bound = { rateMin: 0.6, p99Max: 5 };
      const rows = rowsOf([peace, { name: "attack", yardstick: "peace", bound, samples: [measured] }]);
      expect(rows.map((row) => row.verdict)).to.deep.equal([undefined, verdict]);
    });
  }
});
