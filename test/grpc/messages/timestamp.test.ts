import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { parseMoment, toTimestamp } from "../../../src/grpc/messages/timestamp.js";

describe("grpc: times", () => {
  for (const [millis, timestamp] of [
    [1_767_323_045_678, { seconds: 1_767_323_045n, nanos: 678_000_000 }],
    [0, { seconds: 0n, nanos: 0 }],
    [-1, { seconds: -1n, nanos: 999_000_000 }],
  ] as const) {
    it(`writes ${String(millis)} milliseconds, and reads it again`, () => {
      expect(toTimestamp(toUnixMillis(millis))).to.deep.equal(timestamp);
      expect(parseMoment(timestamp)).to.deep.equal({ ok: true, value: millis });
    });
  }

  for (const [nanos, millis] of [
    [6_000_000, 1_767_225_600_006],
    [6_000_001, 1_767_225_600_007],
    [6_999_999, 1_767_225_600_007],
    [999_999_999, 1_767_225_601_000],
  ] as const) {
    it(`takes the first millisecond that is not before ${String(nanos)} nanoseconds`, () => {
      expect(parseMoment({ seconds: 1_767_225_600n, nanos })).to.deep.equal({ ok: true, value: millis });
    });
  }

  for (const [name, seconds, nanos] of [
    ["a second before the year 1", -62_135_596_801n, 0],
    ["a second after the year 9999", 253_402_300_800n, 0],
    ["a second that no number holds", 2n ** 63n - 1n, 0],
    ["nanoseconds below zero", 0n, -1],
    ["a second of nanoseconds", 0n, 1_000_000_000],
  ] as const) {
    it(`refuses ${name}`, () => {
      expect(parseMoment({ seconds, nanos }).ok).to.equal(false);
    });
  }
});
