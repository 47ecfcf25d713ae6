import { expect } from "chai";

import {
  type ApprovedPayoutFile,
  payoutMetadata,
  payoutReference,
  type PayoutRow,
} from "../../../src/domain/payout-file.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { Description } from "../../../src/domain/values/text.js";
import { redemptionOf } from "../../../src/payouts/redemption.js";
import { by } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenTransaction } from "../../support/given.js";
import {
  EARLIER,
  newAccountId,
  newTransactionId,
  NOW,
  ORGANIZATION,
  RAIL_TERMS,
  TEST_ACTOR,
} from "../../support/names.js";
import { payFile, stopFile } from "../../support/operations/payouts.js";

const { sha256, rowsSha256, rail, rows, amountCents, leftOut } = payFile(ORGANIZATION);
const file = { organizationId: ORGANIZATION, sha256, rowsSha256, rail, rows, amountCents, leftOut };
const approved: ApprovedPayoutFile = { ...file, approvedAt: EARLIER, approvedBy: TEST_ACTOR, stoppedAt: undefined };
/** Of an account that is not there: what refuses a row first is the file. */
const row: PayoutRow = {
  line: 2,
  accountId: newAccountId(),
  amountCents: toCents(1_000),
  reference: payoutReference(sha256, 2),
  description: "" as Description,
  destinationId: undefined,
};
const stopped: ApprovedPayoutFile = { ...approved, stoppedAt: EARLIER };

describe("stopping a file", () => {
  it("says in the book and in the row of the file that it is stopped", () => {
    const effect = effectOf(decide({ payoutFiles: [approved] }, stopFile(ORGANIZATION)));
    expect(putOf(effect, "payoutFiles")).to.deep.equal({ ...approved, stoppedAt: NOW });
    expect(effect.entries[0]).to.include({ kind: "payouts.stopped", detail: JSON.stringify([sha256]) });
    expect(effect.entries[0]?.posting).to.equal(undefined);
  });

  it("needs no second person, whatever the policy says", () => {
    const command = stopFile(ORGANIZATION, by("amina", { mayApprove: false }));
    expect(wordOf(decide({ payoutFiles: [approved] }, command))).to.equal("effect");
  });

  for (const [what, payoutFiles, word] of [
    ["a file that nobody has approved", [], "PAYOUTS_NOT_FOUND"],
    ["another file", [{ ...approved, sha256: "c".repeat(64) }], "PAYOUTS_NOT_FOUND"],
    ["a file that is stopped", [stopped], "replay"],
  ] as const) {
    it(`decides ${word} about ${what}`, () => {
      expect(wordOf(decide({ payoutFiles }, stopFile(ORGANIZATION)))).to.equal(word);
    });
  }

  it("is no new approval: the same file again is what was stopped", () => {
    const decision = decide({ payoutFiles: [stopped] }, payFile(ORGANIZATION));
    expect(decision).to.have.nested.property("resource.resource").that.deep.equals(stopped);
  });
});

describe("a row of a file", () => {
  const redeem = () => {
    const of = { organizationId: ORGANIZATION, sha256, rail, railTerms: RAIL_TERMS };
    return redemptionOf(row, { ...of, newTransactionId: newTransactionId() });
  };

  for (const [what, payoutFiles, word] of [
    ["is refused once its file is stopped", [stopped], "PAYOUTS_STOPPED"],
    ["is looked at while its file is paid", [approved], "ACCOUNT_NOT_FOUND"],
    ["is looked at before its file is approved", [], "ACCOUNT_NOT_FOUND"],
    ["is looked at although another file is stopped", [{ ...stopped, sha256: "c".repeat(64) }], "ACCOUNT_NOT_FOUND"],
  ] as const) {
    it(what, () => {
      expect(wordOf(decide({ payoutFiles }, redeem()))).to.equal(word);
    });
  }

  it("is refused also if the account at the rail is gone", () => {
    const command = { ...redeem(), railTerms: undefined };
    expect(wordOf(decide({ payoutFiles: [stopped] }, command))).to.equal("PAYOUTS_STOPPED");
  });

  it("stays redeemed: what was accepted before the stop is a replay", () => {
    const { reference, accountId, amountCents, description } = row;
    const made = { reference, accountId, amountCents, description, metadata: payoutMetadata(sha256, 2), rail };
    const transactions = [givenTransaction({ type: "REDEEM", ...made })];
    expect(wordOf(decide({ payoutFiles: [stopped], transactions }, redeem()))).to.equal("replay");
  });
});
