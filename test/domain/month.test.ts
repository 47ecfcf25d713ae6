import { expect } from "chai";

import { lastDayOfMonth, type Month, monthOf, parseMonth, periodOfMonth } from "../../src/domain/values/month.js";
import { toUnixMillis } from "../../src/domain/values/time.js";

describe("a month in Kenya", () => {
  it("begins and ends at midnight in Nairobi", () => {
    const { start, end } = periodOfMonth("2026-12" as Month);
    expect([start, end].map((moment) => new Date(moment).toISOString())).to.deep.equal([
      "2026-11-30T21:00:00.000Z",
      "2026-12-31T21:00:00.000Z",
    ]);
    expect(["2026-12", "2024-02"].map((month) => lastDayOfMonth(month as Month))).to.deep.equal([
      "2026-12-31",
      "2024-02-29",
    ]);
  });

  for (const [text, problem] of [
    ["", "is required"],
    ["2026-13", "must be a month such as 2026-10"],
    ["2026-00", "must be a month such as 2026-10"],
    ["2026-1", "must be a month such as 2026-10"],
    ["2026-10-01", "must be a month such as 2026-10"],
  ] as const) {
    it(`is not "${text}"`, () => {
      expect(parseMonth(text)).to.deep.include({ ok: false, problem });
    });
  }

  it("has the moments from its midnight on", () => {
    const { start } = periodOfMonth("2026-11" as Month);
    expect([monthOf(start), monthOf(toUnixMillis(start - 1))]).to.deep.equal(["2026-11", "2026-10"]);
  });

  it("is a year and the number of the month", () => {
    expect(parseMonth("2026-10")).to.deep.include({ ok: true, value: "2026-10" });
  });
});
