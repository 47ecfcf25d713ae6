import { expect } from "chai";

import { decide, effectOf, wordOf } from "../../support/decided.js";
import { ORGANIZATION } from "../../support/names.js";
import { APPROVED_FILE, BANK_FILE_ID, downloadBankFile } from "../../support/operations/bank-files.js";

const command = downloadBankFile(ORGANIZATION);
const LOST = { ...APPROVED_FILE, kind: "bank_file.lost", detail: JSON.stringify([BANK_FILE_ID]) } as const;

describe("downloading a payment file", () => {
  it("is a row of the book, each time", () => {
    const { entries, puts } = effectOf(decide({ bankFiles: [APPROVED_FILE] }, command));
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ kind: "bank_file.downloaded", detail: JSON.stringify([BANK_FILE_ID]) });
    expect(puts).to.deep.equal([]);
  });

  for (const [what, bankFiles, reason] of [
    ["that nobody has approved", [], "BANK_FILE_NOT_FOUND"],
    ["that was lost", [APPROVED_FILE, LOST], "BANK_FILE_CLOSED"],
  ] as const) {
    it(`refuses a file ${what}`, () => {
      expect(wordOf(decide({ bankFiles }, command))).to.equal(reason);
    });
  }
});
