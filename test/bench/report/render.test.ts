import { expect } from "chai";

import { withResults } from "../../../bench/report/render.js";
import type { PartReport } from "../../../bench/report/report.js";

const machine = { processor: "Abacus", cores: 2, node: "v20", loadBefore: 0, commit: "0123abc" };

function report(figures: Record<string, number>): PartReport {
  const at = "2026-01-02T03:04:05.678Z";
  const named = Object.entries(figures).map(([name, value]) => ({ name, value, unit: "" }));
  const sample = { callsPerSecond: 12_345, p50Millis: 1.5, p99Millis: null, ofYardstick: 0.5 };
  const rows = [{ name: "mint @ 1", ...sample, loadBusy: 0.05, mainMicros: 100, otherMicros: 5 }];
  return { at, machine, settings: {}, rows, figures: named };
}

const blockOf = (name: string, old = "old\n"): string => `<!-- results: ${name} -->\n${old}<!-- end of results -->`;

describe("the results in a document", () => {
  it("replaces the text between the markers and nothing else", () => {
    const document = `before\n${blockOf("service", "")}\nbetween\n${blockOf("figures")}\nafter\n`;
    const rendered = withResults(document, { parts: { service: report({}) } });
    expect(rendered.split("\n")).to.deep.equal([
      "before",
      "<!-- results: service -->",
      "",
      "Measured on 2026-01-02: commit 0123abc, Abacus, 2 cores, Node v20, load before 0.",
      "",
      "| measurement | calls/s | p50 ms | p99 ms | ÷ yardstick |",
      "| ----------- | ------: | -----: | -----: | ----------: |",
      "| mint @ 1    |  12,345 |   1.50 |        |        0.50 |",
      "",
      "<!-- end of results -->",
      "between",
      "<!-- results: figures -->",
      "",
      "",
      "",
      "<!-- end of results -->",
      "after",
      "",
    ]);
  });

  it("lists the goals that are not met first, and those that were not measured", () => {
    const parts = {
      service: report({
        "mints ÷ empty calls, 100 in flight": 0.5,
        "mints ÷ empty calls, 400 in flight": 0.49,
        "p99 of mints ÷ empty calls, each at half of its peak": 1.01,
      }),
    };
    const lines = withResults(blockOf("goals"), { parts })
      .split("\n")
      .filter((line) => line.startsWith("- "));
    expect(lines.slice(0, 2)).to.deep.equal([
      "- **not met** mints ÷ empty calls, 400 in flight: 0.49 (≥ 0.5)",
      "- **not met** p99 of mints ÷ empty calls, each at half of its peak: 1.01 (≤ 1)",
    ]);
    expect(lines.at(-1)).to.equal("- **met** mints ÷ empty calls, 100 in flight: 0.50 (≥ 0.5)");
    expect(lines.slice(2, -1).every((line) => line.startsWith("- **not measured** "))).to.equal(true);
  });

  it("refuses a block that it does not know", () => {
    expect(() => withResults(blockOf("speed"), { parts: {} })).to.throw('No block of results is called "speed"');
  });

  it("renders again to the same text", () => {
    const once = withResults(blockOf("goals") + blockOf("figures"), { parts: { curve: report({ peak: 3 }) } });
    expect(withResults(once, { parts: { curve: report({ peak: 3 }) } })).to.equal(once);
  });
});
