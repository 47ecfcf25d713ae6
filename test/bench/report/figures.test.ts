import { expect } from "chai";

import { median, medianInterval, medianRatio, quantile } from "../../../bench/report/figures.js";
import { medianOf, ratioOf, sampleOf } from "../../../bench/report/series.js";

describe("the figures of a report", () => {
  it("takes the middle value, or the mean of the two in the middle", () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 2, 3])).to.equal(2.5);
  });

  it("holds the median of eleven between the second and the tenth, and of a few between the outer ones", () => {
    expect(medianInterval([11, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10])).to.deep.equal([2, 10]);
    expect(medianInterval([3, 1, 2])).to.deep.equal([1, 3]);
  });

  it("takes ratios round by round before it takes their median", () => {
    expect(medianRatio([10, 30, 9], [10, 10, 10])).to.equal(1);
    expect(medianRatio([1, 100, 3], [2, 100, 1])).to.equal(1);
  });

  it("takes as a quantile the smallest value that so many do not exceed", () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0.5, 0.99, 1].map((share) => quantile(values, share))).to.deep.equal([50, 99, 100]);
    expect(quantile([], 0.5)).to.equal(0);
  });

  it("has no median of a figure that some round lacks", () => {
    const [first, second] = [sampleOf([1, 2, 3], 1), { ...sampleOf([1], 1), mainMicros: 5 }];
    expect(medianOf([first, second], "mainMicros")).to.equal(null);
    expect(medianOf([first, second], "callsPerSecond")).to.equal(2);
    expect(ratioOf([first], [second], "callsPerSecond")).to.equal(3);
  });
});
