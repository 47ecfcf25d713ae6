import { expect } from "chai";

import { nairobiDayOf, parseNairobiDay, startOfMonth } from "../../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";

describe("a day in Nairobi", () => {
  for (const [text, expected] of [
    ["2026-11-01", "ok"],
    ["2028-02-29", "ok"],
    ["2027-02-29", "must be a day such as 2026-11-01"],
    ["1.11.2026", "must be a day such as 2026-11-01"],
    ["", "is required"],
  ] as const) {
    it(`is read from a text: ${JSON.stringify(text)}, ${expected}`, () => {
      const day = parseNairobiDay(text);
      expect(day.ok ? "ok" : day.problem).to.equal(expected);
    });
  }

  it("begins at 21:00 UTC, and a month with its first day", () => {
    const day = nairobiDayOf(toUnixMillis(Date.UTC(2026, 0, 31, 21)));
    expect(day).to.equal("2026-02-01");
    expect(startOfMonth(day)).to.equal(Date.UTC(2026, 0, 31, 21));
  });
});
