import { expect } from "chai";

import { parseEmailAddress } from "../../../src/domain/values/email-address.js";

// 64 characters before the @, 254 in all.
const LONGEST = `${"a".repeat(64)}@${"b".repeat(61)}.${"c".repeat(61)}.${"d".repeat(62)}.ke`;

describe("an e-mail address", () => {
  for (const [form, text, address] of [
    ["as it is", "wanjiku@example.co.ke", "wanjiku@example.co.ke"],
    ["with its domain in lower case, and no other part", "Wanjiku@Example.CO.KE", "Wanjiku@example.co.ke"],
    ["with a tag", "wanjiku+kesc@example.com", "wanjiku+kesc@example.com"],
    ["with every sign that it may have", "!#$%&'*+/=?^_`{|}~-.@example.com", "!#$%&'*+/=?^_`{|}~-.@example.com"],
    ["with a hyphen in its domain", "a@my-shop.example", "a@my-shop.example"],
    ["of 254 characters", LONGEST, LONGEST],
  ] as const) {
    it(`is read ${form}`, () => {
      expect(parseEmailAddress(text)).to.deep.equal({ ok: true, value: address });
    });
  }

  it("may be none", () => {
    expect(parseEmailAddress("")).to.deep.equal({ ok: true, value: "" });
  });

  for (const [why, text] of [
    ["has no @", "wanjiku.example.com"],
    ["has two @", "wanjiku@home@example.com"],
    ["has nothing before the @", "@example.com"],
    ["has nothing after the @", "wanjiku@"],
    ["has no point in its domain", "wanjiku@localhost"],
    ["ends in a point", "wanjiku@example.com."],
    ["has an empty part in its domain", "wanjiku@example..com"],
    ["has a part of its domain that begins with a hyphen", "wanjiku@-example.com"],
    ["has a part of its domain that ends with a hyphen", "wanjiku@example-.com"],
    ["has a part of its domain of 64 characters", `wanjiku@${"e".repeat(64)}.com`],
    ["has a space", "wanjiku kamau@example.com"],
    ["begins with a space", " wanjiku@example.com"],
    ["ends in a line feed", "wanjiku@example.com\n"],
    ["has a name in front", "Wanjiku <wanjiku@example.com>"],
    ["has quotes", '"wanjiku kamau"@example.com'],
    ["has an address of numbers", "wanjiku@[127.0.0.1]"],
    ["has letters that are not ASCII", "wanjikú@example.com"],
    ["has a domain that is not ASCII", "wanjiku@exämple.com"],
    ["has 65 characters before the @", `${"a".repeat(65)}@example.com`],
  ] as const) {
    it(`is refused when it ${why}`, () => {
      expect(parseEmailAddress(text)).to.deep.equal({
        ok: false,
        problem: "must be an e-mail address such as wanjiku@example.co.ke",
        code: "FORMAT",
      });
    });
  }

  it("is refused when it has 255 characters", () => {
    const problem = "must have at most 254 characters";
    expect(parseEmailAddress(LONGEST.replace(".ke", ".org"))).to.deep.equal({ ok: false, problem, code: "TOO_LONG" });
  });

  // A pattern that backtracks would read these for longer than a test may run.
  it("is refused at once when its text is made to take long", () => {
    expect(parseEmailAddress(`a@${"a.".repeat(5_000_000)}`).ok).to.equal(false);
    expect(parseEmailAddress(`a@${"a-".repeat(120)}!`).ok).to.equal(false);
  });
});
