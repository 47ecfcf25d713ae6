import { expect } from "chai";

import { type ApprovedPayoutFile, detailOfPayouts } from "../../../src/domain/payout-file.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { ALONE } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { EARLIER, NOW, ORGANIZATION, TEST_ACTOR } from "../../support/names.js";
import { payFile } from "../../support/operations/payouts.js";

const { sha256, rowsSha256, rail, rows, amountCents, leftOut } = payFile(ORGANIZATION);
const file = { organizationId: ORGANIZATION, sha256, rowsSha256, rail, rows, amountCents, leftOut };
const approved: ApprovedPayoutFile = { ...file, approvedAt: EARLIER, approvedBy: TEST_ACTOR, stoppedAt: undefined };

describe("paying a file", () => {
  it("stores the file with its hashes, its rows and its sum, and says so in the book", () => {
    const effect = effectOf(decide({}, payFile(ORGANIZATION)));
    expect(putOf(effect, "payoutFiles")).to.deep.equal({
      ...file,
      approvedAt: NOW,
      approvedBy: TEST_ACTOR,
      stoppedAt: undefined,
    });
    expect(effect.entries[0]).to.include({
      kind: "payouts.approved",
      detail: detailOfPayouts(file),
      posting: undefined,
    });
  });

  for (const [what, given, word] of [
    ["the same file", {}, "replay"],
    ["the same file, read in another way", { rowsSha256: "c".repeat(64), amountCents: toCents(1) }, "replay"],
    ["another file", { sha256: "c".repeat(64) }, "effect"],
  ] as const) {
    it(`decides ${word} about ${what}`, () => {
      expect(wordOf(decide({ payoutFiles: [approved] }, payFile(ORGANIZATION, given)))).to.equal(word);
    });
  }

  it("returns the file as it was approved first", () => {
    const decision = decide({ payoutFiles: [approved] }, payFile(ORGANIZATION, { rowsSha256: "c".repeat(64) }));
    expect(decision).to.have.nested.property("resource.resource").that.deep.equals(approved);
  });

  it("needs a second person if the policy says so", () => {
    const command = payFile(ORGANIZATION, { authority: { ...ALONE, groups: ["payouts"] } });
    expect(putOf(effectOf(decide({}, command)), "proposals")?.person).to.equal("amina");
  });
});
