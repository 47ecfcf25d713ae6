import { expect } from "chai";

import { ALONE } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { ORGANIZATION } from "../../support/names.js";
import { APPROVED_FILE, BANK_FILE_ID, reportBankFileLost } from "../../support/operations/bank-files.js";

const command = reportBankFileLost(ORGANIZATION);
const LOST = { ...APPROVED_FILE, kind: "bank_file.lost", detail: JSON.stringify([BANK_FILE_ID]) } as const;

describe("reporting a payment file as lost", () => {
  it("is a row of the book, and leaves the payments as they are", () => {
    const { entries, puts } = effectOf(decide({ bankFiles: [APPROVED_FILE] }, command));
    expect(entries[0]).to.include({ kind: "bank_file.lost", detail: JSON.stringify([BANK_FILE_ID]) });
    expect(puts).to.deep.equal([]);
  });

  for (const [what, bankFiles, word] of [
    ["that nobody has approved", [], "BANK_FILE_NOT_FOUND"],
    ["that was lost before", [APPROVED_FILE, LOST], "replay"],
  ] as const) {
    it(`decides ${word} about a file ${what}`, () => {
      expect(wordOf(decide({ bankFiles }, command))).to.equal(word);
    });
  }

  it("needs a second person if the policy says so", () => {
    const proposing = { ...command, authority: { ...ALONE, groups: ["payouts"] } } as const;
    expect(putOf(effectOf(decide({ bankFiles: [APPROVED_FILE] }, proposing)), "proposals")?.person).to.equal("amina");
  });
});
