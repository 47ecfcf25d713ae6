import { expect } from "chai";

import type { TraceParent } from "../../../runtime/caller-ids.js";
import { atMost, type Sampler, samplerOf } from "../../../runtime/tracing/sampling.js";
import { openTracing } from "../../../runtime/tracing/tracing.js";

const parent = (isSampled: boolean): TraceParent => ({ traceId: "1".repeat(32), spanId: "1".repeat(16), isSampled });

function sampler(name: string, ratio = "", random = 0.5): Sampler {
  const result = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }, () => random);
  if (!result.ok) throw new Error(result.problem);
  return result.sample;
}

describe("the sampling of traces", () => {
  for (const [name, ratio, none, unsampled, sampled] of [
    ["", "", true, false, true],
    ["always_on", "", true, true, true],
    ["always_off", "", false, false, false],
    ["parentbased_always_off", "", false, false, true],
    ["traceidratio", "0.6", true, true, true],
    ["traceidratio", "0.4", false, false, false],
    ["parentbased_traceidratio", "0.6", true, false, true],
    ["parentbased_traceidratio", "0.4", false, false, true],
    ["parentbased_traceidratio", "", true, false, true],
  ] as const) {
    it(`follows OTEL_TRACES_SAMPLER=${name} with ${ratio === "" ? "no ratio" : ratio}`, () => {
      const sample = sampler(name, ratio);
      expect([sample(undefined), sample(parent(false)), sample(parent(true))]).to.deep.equal([
        none,
        unsampled,
        sampled,
      ]);
    });
  }

  it("never takes anything with the ratio 0, and everything with 1", () => {
    expect(sampler("traceidratio", "0", 0)(undefined)).to.equal(false);
    expect(sampler("traceidratio", "1", 0.999_999)(undefined)).to.equal(true);
  });

  it("is bounded in each second, whatever callers mark as sampled", () => {
    let now = 0;
    const sample = atMost(3, sampler("parentbased_always_off"), () => now);
    const taken = (): number => Array.from({ length: 10 }, () => sample(parent(true))).filter(Boolean).length;
    expect(taken()).to.equal(3);
    now = 999;
    expect(taken()).to.equal(0);
    now = 1_000;
    expect(sample(parent(false))).to.equal(false);
    expect(taken()).to.equal(3);
  });

  const problemOf = async (environment: Readonly<Record<string, string>>): Promise<string> =>
    openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", ...environment }, "kesc", () => undefined).then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );

  it("names the variable that is wrong", async () => {
    expect(await problemOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).to.equal(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://127.0.0.1:4318; it is "collector:4318".',
    );
    expect(await problemOf({ OTEL_TRACES_SAMPLER: "sometimes" })).to.equal(
      "OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, or one of them after parentbased_; " +
        'it is "sometimes".',
    );
    for (const ratio of ["2", "-1", "x"]) {
      const problem = await problemOf({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: ratio });
      expect(problem).to.equal(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is "${ratio}".`);
    }
  });

  it("is off without an endpoint, and with OTEL_SDK_DISABLED", async () => {
    expect(await openTracing({}, "kesc", () => undefined)).to.equal(undefined);
    const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SDK_DISABLED: "true" };
    expect(await openTracing(disabled, "kesc", () => undefined)).to.equal(undefined);
  });
});
