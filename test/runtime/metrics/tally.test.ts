import { expect } from "chai";

import { Metrics } from "../../../runtime/metrics/metrics.js";
import { readMetrics } from "../../support/callers/served-metrics.js";

describe("metrics that are counted in plain numbers", () => {
  it("show each series of a counter", async () => {
    const metrics = new Metrics();
    const calls = metrics.counter({ name: "calls_total", help: "Calls." });
    calls.of({ code: "OK" }).value += 2;
    calls.of({ code: "OK" }).value += 1;
    calls.of({ code: 'a "quoted"\nname' }).value += 1;
    expect(await metrics.text()).to.equal(
      '# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{code="OK"} 3\n' +
        'calls_total{code="a \\"quoted\\"\\nname"} 1\n',
    );
  });

  it("count a value in its bucket and in all larger ones, a bound included", async () => {
    const metrics = new Metrics();
    const seconds = metrics.histogram({ name: "seconds", help: "Seconds." }, [0.5, 1]).of({ cell: "0" });
    for (const value of [0.1, 0.5, 0.7, 1, 9]) seconds.observe(value);
    const [metric] = readMetrics(await metrics.text()).values();
    expect(Object.fromEntries(metric?.lines ?? [])).to.deep.equal({
      'seconds_bucket{cell="0",le="0.5"}': 2,
      'seconds_bucket{cell="0",le="1"}': 4,
      'seconds_bucket{cell="0",le="+Inf"}': 5,
      'seconds_sum{cell="0"}': 11.3,
      'seconds_count{cell="0"}': 5,
    });
  });

  it("show a name without series", async () => {
    const metrics = new Metrics();
    metrics.gauge({ name: "nothing", help: "None." }, () => Promise.resolve([]));
    expect(await metrics.text()).to.equal("# HELP nothing None.\n# TYPE nothing gauge\n");
  });
});
