import { createHash } from "node:crypto";

import { expect } from "chai";

import { type Content, contentHash } from "../../../src/storage/secrets/book-keys.js";

const SALT = "000102030405060708090a0b0c0d0e0f";
const MINT: Content = {
  kind: "transaction.completed",
  transactionId: "txn_1",
  accountId: "acc_1",
  recordedAt: 1_700_000_000_000,
  created: ["MINT", "5000", "ref-1", "café", '[["till","7"]]', "direct"],
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

// Whoever checks a proof computes this hash in another language, so its text is written out here.
describe("the content hash of a journal row", () => {
  it("is the SHA-256 of the salt and a JSON array", () => {
    const text =
      "000102030405060708090a0b0c0d0e0f" +
      '["kesc-content-1","transaction.completed","txn_1","acc_1","1700000000000",' +
      '"MINT","5000","ref-1","café","[[\\"till\\",\\"7\\"]]","direct"]';
    expect(contentHash(SALT, MINT)).to.equal(sha256(text));
  });

  it("has an empty text in place of an account and of a transaction", () => {
    const row = { ...MINT, kind: "organization.created", transactionId: null, accountId: null, created: ["Duka"] };
    const text = `${SALT}["kesc-content-1","organization.created","","","1700000000000","Duka"]`;
    expect(contentHash(SALT, row)).to.equal(sha256(text));
  });

  it("is the same on every machine", () => {
    const row = { ...MINT, kind: "account.frozen", transactionId: null, created: [] };
    expect(contentHash(SALT, row)).to.equal("71e709c14cdab9b522aeccc52a5a06553445ee73b8800dcd6848c823f2cc32f1");
  });

  for (const [what, changed] of [
    ["the kind", { kind: "transaction.pending" }],
    ["the transaction", { transactionId: "txn_2" }],
    ["the account", { accountId: "acc_2" }],
    ["the time", { recordedAt: 1_700_000_000_001 }],
    ["a field of what was created", { created: ["MINT", "5001", "ref-1", "café", '[["till","7"]]', "direct"] }],
    ["a field less", { created: ["MINT", "5000", "ref-1", "café", '[["till","7"]]'] }],
    ["the border between two fields", { created: ["MINT5", "000", "ref-1", "café", '[["till","7"]]', "direct"] }],
  ] as const) {
    it(`changes with ${what}`, () => {
      expect(contentHash(SALT, { ...MINT, ...changed })).not.to.equal(contentHash(SALT, MINT));
    });
  }

  it("changes with the salt", () => {
    expect(contentHash(`f${SALT.slice(1)}`, MINT)).not.to.equal(contentHash(SALT, MINT));
  });
});
