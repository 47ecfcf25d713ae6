import { expect } from "chai";

import type { DestinationKind, DestinationNumber, RailName } from "../../src/domain/destination.js";
import {
  listedTextsOfAccount,
  listedTextsOfDestination,
  parseListed,
  payoutListFromText,
  payoutListText,
} from "../../src/domain/payout-list.js";
import { erasedHolder, givenAccount, givenHolder } from "../support/given.js";
import { newAccountId, NOW } from "../support/names.js";

const textOf = (kind: Parameters<typeof parseListed>[0], written: string): string => {
  const parsed = parseListed(kind, written);
  return parsed.ok ? parsed.value.join(", ") : `bad: ${parsed.problem}`;
};
const textsOf = (kind: DestinationKind, number: string, railName?: string): readonly string[] =>
  listedTextsOfDestination({ kind, number: number as DestinationNumber, railName: railName as RailName | undefined });

describe("an entry of a list of payouts that are held", () => {
  for (const [one, other] of [
    ["WANJIKU, Mary", "Mary Wanjiku"],
    ["  mary   wanjiku ", "Mary Wanjiku"],
    ["Ñandú Étienne", "etienne nandu"],
    ["Ｍａｒｙ Wanjiku", "Mary Wanjiku"],
    ["GROSS & Söhne", "groß sohne"],
    ["İbrahim", "ibrahim"],
    ["O'Brien-Otieno", "OTIENO (O Brien)"],
    ["Ma\u200Bry Wanjiku", "Mary Wanjiku"],
    ["ΜΑΡΙΟΣ", "μάριος"],
  ] as const) {
    it(`takes the names ${one} and ${other} for equal`, () => {
      expect(textOf("name", one)).to.equal(textOf("name", other));
    });
  }

  it("takes other words for other names: nothing is guessed", () => {
    const names = ["Mary Wanjiku", "Mary Wanjikuu", "Mary", "Mary Mary Wanjiku", "Marywanjiku"];
    expect(new Set(names.map((name) => textOf("name", name)))).to.have.property("size", names.length);
  });

  for (const [kind, written, text] of [
    ["number", "0712 345 678", "number +254712345678"],
    ["number", "254712345678", "number +254712345678"],
    ["number", "+254 712345678", "number +254712345678"],
    ["number", "5432321", "number 5432321"],
    ["number", "400200 ab-7", "number 400200 AB-7"],
    ["number", "01  12345abc", "number 01 12345ABC"],
    ["number", "07 12345678", "number +254712345678, number 07 12345678"],
    ["number", "01175 12345abc", "number 01175 12345ABC, number 01 12345ABC"],
    ["number", "0712 345678", "number +254712345678"],
    ["number", "99 12345", "bad: must be the 2 digits"],
    ["number", "01 1", "bad: must be the number of a bank account"],
    ["number", "4 12345", "bad: must be the 5 to 7 digits"],
    ["number", "400200 12345678901234", "bad: must be 1 to 13"],
    ["number", "Mary", "bad: must be a phone number, a till or paybill"],
    ["account", "Mary", "bad: must be the id of an account"],
    ["name", "-- ,", "bad: must have a letter or a digit"],
    ["name", "x".repeat(201), "bad: must have at most 200 characters"],
  ] as const) {
    it(`reads ${written.slice(0, 30)} as a ${kind}`, () => {
      expect(textOf(kind, written).startsWith(text)).to.equal(true);
    });
  }

  it("is an account by its id, and by the number of its user as long as it has one", () => {
    const account = givenAccount({ id: newAccountId() });
    const holder = givenHolder(account);
    const own = textOf("account", account.id);
    expect(own).to.equal(`account ${account.id}`);
    expect(listedTextsOfAccount(account.id, holder)).to.deep.equal([
      own,
      textOf("number", holder.person?.phoneNumber ?? ""),
    ]);
    expect(listedTextsOfAccount(account.id, erasedHolder(account))).to.deep.equal([own]);
    expect(listedTextsOfAccount(account.id, undefined)).to.deep.equal([own]);
  });

  it("is a destination by its number, a paybill also without the account, a bank by account and holder", () => {
    expect(textsOf("PHONE", "+254712345678")).to.deep.equal([textOf("number", "0712345678")]);
    expect(textsOf("TILL", "543232")).to.deep.equal([textOf("number", "543232")]);
    expect(textsOf("PAYBILL", "400200 ab7")).to.deep.equal([
      textOf("number", "400200"),
      textOf("number", "400200 AB7"),
    ]);
    // The branch is no part of what tells an account from others.
    expect(textsOf("BANK", "01175 1234567 Mary Wanjiku")).to.deep.equal([
      textOf("number", "01 1234567"),
      textOf("name", "WANJIKU, Mary"),
    ]);
    expect(textsOf("TILL", "543232", "MAMA MBOGA")).to.deep.equal([
      textOf("number", "543232"),
      textOf("name", "Mama Mboga"),
    ]);
    expect(listedTextsOfDestination({ kind: "TILL", number: undefined, railName: undefined })).to.deep.equal([]);
  });

  it("has a text for the book, which reads back", () => {
    const list = { hash: "a".repeat(64), counts: { account: 1, number: 2, name: 3 }, by: "opr_a,opr_b", since: NOW };
    expect(payoutListFromText(payoutListText(list))).to.deep.equal(list);
  });
});
