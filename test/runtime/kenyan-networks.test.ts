import { expect } from "chai";

import { otherNetworkOf } from "../../runtime/kenyan-networks.js";

/** The prefixes in the form of 07…, with the last one of each range. */
const TABLE = {
  Airtel: ["0730", "0739", "0750", "0756", "0760", "0762", "0767", "0780", "0789", "0100", "0108", "0135", "0139"],
  Telkom: ["0770", "0779"],
  Faiba: ["0747"],
  Safaricom: [
    ...["0700", "0729", "0740", "0743", "0745", "0746", "0748", "0749", "0757", "0759", "0768", "0769", "0790", "0799"],
    ...["0110", "0119", "0140", "0146"],
  ],
};

describe("the network of a Kenyan number", () => {
  for (const [network, prefixes] of Object.entries(TABLE)) {
    it(`is ${network} by ${prefixes.join(", ")}`, () => {
      for (const prefix of prefixes) {
        const number = `254${prefix.slice(1)}123456`;
        const expected = network === "Safaricom" ? undefined : network;
        expect([otherNetworkOf(number), otherNetworkOf(`+${number}`)], prefix).to.deep.equal([expected, expected]);
      }
    });
  }

  it("is none of these for another number", () => {
    for (const number of ["", "+442079460958", "25473312345", "0733123456"]) {
      expect(otherNetworkOf(number)).to.equal(undefined);
    }
  });
});
