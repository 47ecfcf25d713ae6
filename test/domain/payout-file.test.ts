import { expect } from "chai";

import { payoutFileIn, payoutMetadata, payoutReference } from "../../src/domain/payout-file.js";
import type { Metadata } from "../../src/domain/values/text.js";
import { parseNewReference } from "../../src/domain/values/text.js";

const sha256 = "a1".repeat(32);

describe("the redemption of a row of a file", () => {
  it("has a reference of its line that no caller can use", () => {
    const reference = payoutReference(sha256, 7);
    expect(reference).to.equal(`kesc:payout:${"a1".repeat(16)}:7`);
    expect(payoutReference(sha256, 8)).not.to.equal(reference);
    expect(parseNewReference(reference).ok).to.equal(false);
  });

  it("names its file and its line in its metadata", () => {
    const metadata = payoutMetadata(sha256, 7);
    expect([...metadata.values()]).to.deep.equal([sha256, "7"]);
    expect(payoutFileIn(metadata)).to.equal(sha256);
    expect(payoutFileIn(new Map() as ReadonlyMap<string, string> as Metadata)).to.equal(undefined);
  });
});
