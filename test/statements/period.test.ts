import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { parsePeriod, parseRange } from "../../src/statements/period.js";

const NOW = Date.UTC(2026, 10, 20, 12);
/** Midnight in Kenya, three hours before that of UTC. */
const MIDNIGHT = (day: number): number => Date.UTC(2026, 10, day, -3);

function ends(start: string, end: string): readonly (number | string)[] {
  const period = parsePeriod({ start, end }, toUnixMillis(NOW));
  return [period.start, period.end].map((each) => (each.ok ? each.value : each.code));
}

describe("a period", () => {
  it("of days is that of Kenya, with its last day", () => {
    expect(ends("2026-11-01", "2026-11-01")).to.deep.equal([MIDNIGHT(1), MIDNIGHT(2)]);
    expect(ends("2026-11-01", "2026-11-19")).to.deep.equal([MIDNIGHT(1), MIDNIGHT(20)]);
  });

  it("of times ends before its end", () => {
    const [start, end] = [Date.UTC(2026, 10, 1, 6), Date.UTC(2026, 10, 1, 6, 30)];
    expect(ends("2026-11-01T09:00:00+03:00", "2026-11-01T06:30:00Z")).to.deep.equal([start, end]);
    expect(ends("2026-11-01", "2026-11-01T06:30:00Z")).to.deep.equal([MIDNIGHT(1), end]);
  });

  it("must be over for a minute, because a row can be recorded a little late", () => {
    const before = (millis: number): string => new Date(NOW - millis).toISOString();
    expect(ends("2026-11-01", before(60_000))[1]).to.equal(NOW - 60_000);
    expect(ends("2026-11-01", before(59_999))[1]).to.equal("OUT_OF_RANGE");
    expect(ends("2026-11-01", "2026-11-20")[1]).to.equal("OUT_OF_RANGE");
  });

  it("must have a beginning before its end", () => {
    for (const [start, end] of [
      ["2026-11-02", "2026-11-01"],
      ["2026-11-01T09:00:00Z", "2026-11-01T09:00:00Z"],
    ] as const) {
      expect(ends(start, end)[1], start).to.equal("OUT_OF_RANGE");
    }
    expect(ends("", "")).to.deep.equal(["REQUIRED", "REQUIRED"]);
    expect(ends("1 November", "2026-11-31").every((each) => typeof each === "string")).to.equal(true);
  });
});

describe("an end of a period", () => {
  for (const [text, code] of [
    ["2026-02-30", "FORMAT"],
    ["2026-02-30T00:00:00Z", "FORMAT"],
    ["2026-11-01T24:00:00Z", "FORMAT"],
    ["2026-11-01T23:59:60Z", "FORMAT"],
    ["2026-11-01T09:00Z", "FORMAT"],
    ["2026-11-01T09:00:00", "FORMAT"],
    ["2026-11-01T09:00:00+24:00", "FORMAT"],
    ["0000-01-01", "OUT_OF_RANGE"],
    ["0001-01-01", "OUT_OF_RANGE"],
    ["0001-01-01T00:00:00+03:00", "OUT_OF_RANGE"],
  ] as const) {
    it(`cannot be ${text}`, () => {
      expect(ends(text, "2026-11-01")[0]).to.equal(code);
      expect(ends("2026-11-01", text)[1]).to.equal(code);
    });
  }

  it("can be any other RFC 3339 time of the years 1 to 9999", () => {
    expect(ends("0001-01-01T00:00:00Z", "2024-02-29t23:59:59.999999999z")).to.deep.equal([
      Date.parse("0001-01-01T00:00:00Z"),
      Date.UTC(2024, 2, 1),
    ]);
  });
});

describe("a range", () => {
  function rangeOf(start: string, end: string): readonly (number | string | undefined)[] {
    const range = parseRange({ start, end });
    return [range.start, range.end].map((each) => (each.ok ? each.value : each.code));
  }

  it("may lack each end, and may end in the future", () => {
    expect(rangeOf("", "")).to.deep.equal([undefined, undefined]);
    expect(rangeOf("2026-11-01", "")).to.deep.equal([MIDNIGHT(1), undefined]);
    expect(rangeOf("", "2126-11-01T00:00:00Z")).to.deep.equal([undefined, Date.UTC(2126, 10, 1)]);
  });

  it("is refused if it can match nothing, to the millisecond", () => {
    expect(rangeOf("2026-11-02", "2026-11-01")[1]).to.equal("OUT_OF_RANGE");
    expect(rangeOf("2026-11-01T00:00:00.000001Z", "2026-11-01T00:00:00.000999Z")[1]).to.equal("OUT_OF_RANGE");
    const [start, end] = rangeOf("2026-11-01T00:00:00.000Z", "2026-11-01T00:00:00.000001Z");
    expect([start, end]).to.deep.equal([Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 1) + 1]);
  });
});
