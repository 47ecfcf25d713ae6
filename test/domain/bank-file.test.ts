import { expect } from "chai";

import {
  bankFileId,
  endToEndIdOf,
  idIn,
  namedTransactions,
  parseBankFileId,
  readBankFile,
  transactionOfEndToEndId,
} from "../../src/domain/bank-file.js";
import { detailOfBankFile, detailOfId } from "../../src/domain/bank-file.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { TransactionId } from "../../src/domain/values/ids.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { ORGANIZATION } from "../support/names.js";

const ID = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId;
const OTHER = "txn_01jd2r6p5vf8ksw3xhb1z7q4yf" as TransactionId;

describe("a payment file for a bank", () => {
  it("has a name of 26 capital letters and digits, which follows from what it pays", () => {
    expect(bankFileId("0f".repeat(32))).to.equal("KB0F0F0F0F0F0F0F0F0F0F0F0F");
    expect(parseBankFileId("KB0F0F0F0F0F0F0F0F0F0F0F0F")).to.deep.include({ ok: true });
    for (const bad of ["KB0F", "kb0f0f0f0f0f0f0f0f0f0f0f0f", "KB0F0F0F0F0F0F0F0F0F0F0F0G"]) {
      expect(parseBankFileId(bad)).to.deep.include({ code: "FORMAT" });
    }
    expect(parseBankFileId("")).to.deep.include({ code: "REQUIRED" });
  });

  it("is read back from its row, and so is the id from each row about it", () => {
    const file = {
      organizationId: ORGANIZATION,
      id: bankFileId("a".repeat(64)),
      railAccountId: "rail_a" as RailAccountId,
      sha256: "b".repeat(64),
      count: 2,
      amountCents: toCents(1_200_000_000),
      day: "2026-12-01" as NairobiDay,
    };
    const detail = detailOfBankFile(file);
    expect({ ...readBankFile(detail), organizationId: ORGANIZATION }).to.deep.equal(file);
    expect([idIn(detail), idIn(detailOfId(file.id))]).to.deep.equal([file.id, file.id]);
    // The index has the id at this place.
    expect(detail.slice(2, 28)).to.equal(file.id);
  });

  it("names each payment by the id of its transaction, which a statement may cut to 16 characters", () => {
    expect(endToEndIdOf(ID)).to.equal("F8KSW3XHB1Z7Q4YE01JD2R6P5V");
    expect(transactionOfEndToEndId(endToEndIdOf(ID))).to.equal(ID);
    expect(transactionOfEndToEndId("NOTPROVIDED")).to.equal(undefined);
    for (const reference of ["F8KSW3XHB1Z7Q4YE01JD2R6P5V", "f8ksw3xhb1z7q4ye01jd2r6p5v", "F8KSW3XHB1Z7Q4YE"]) {
      expect(namedTransactions([OTHER, ID])(reference), reference).to.deep.equal([ID]);
    }
    for (const reference of ["", "F8KSW3XHB1Z7Q4Y", "F8KSW3XHB1Z7Q4YE01JD2R6P5VX", "01JD2R6P5VF8KSW3XHB1Z7Q4YE"]) {
      expect(namedTransactions([ID])(reference), reference).to.deep.equal([]);
    }
  });
});
