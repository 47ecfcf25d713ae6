import { expect } from "chai";

import { parsePhoneNumber } from "../../../src/domain/values/phone-number.js";

describe("a phone number", () => {
  for (const [form, text, e164] of [
    ["as Kenyans dial it", "0712345678", "+254712345678"],
    ["without its zero", "712345678", "+254712345678"],
    ["with the country code", "254712345678", "+254712345678"],
    ["in E.164", "+254712345678", "+254712345678"],
    ["as one dials it from abroad", "00254712345678", "+254712345678"],
    ["as one dials it from abroad, with spaces", "00 254 712 345 678", "+254712345678"],
    ["from the newer 011 range", "0110345678", "+254110345678"],
    ["from the newer 010 range", "0100345678", "+254100345678"],
    ["with spaces", "0712 345 678", "+254712345678"],
    ["with hyphens", "0712-345-678", "+254712345678"],
    ["with points", "0712.345.678", "+254712345678"],
    ["with the zero in parentheses", "+254 (0)712 345678", "+254712345678"],
    ["of a landline in Nairobi", "0202222222", "+254202222222"],
    ["of the United States", "+1 202-456-1111", "+12024561111"],
    ["of the United Kingdom", "+442079460958", "+442079460958"],
    ["of Tanzania", "+255712345678", "+255712345678"],
    ["of a range that no operator has yet", "+254 123-456-789", "+254123456789"],
    ["of the range that Ofcom keeps for tests", "+447700900123", "+447700900123"],
    ["as documents make it up", "+1234567890", "+1234567890"],
    ["with parentheses", "+1 (555) 123-4567", "+15551234567"],
    ["with the fewest digits", "+1234567", "+1234567"],
    ["with the most digits", "+123456789012345", "+123456789012345"],
  ] as const) {
    it(`is read ${form}: ${text}`, () => {
      expect(parsePhoneNumber(text)).to.deep.equal({ ok: true, value: e164 });
    });
  }

  it("is required", () => {
    expect(parsePhoneNumber("")).to.deep.equal({ ok: false, problem: "is required", code: "REQUIRED" });
  });

  for (const [why, text] of [
    ["is too short", "071234567"],
    ["has one zero too many", "00712345678"],
    ["is one from abroad that does not exist", "00254123456789"],
    ["has the prefix of another country", "00442079460958"],
    ["is too long", "07123456789"],
    ["is too long, with its country code", "2547123456789"],
    ["has six digits after its plus", "+123456"],
    ["has sixteen digits after its plus", "+1234567890123456"],
    ["has a zero in parentheses that nobody can place", "+254 (0)123 456789"],
    ["is a short code", "999"],
    ["is of a range that nobody has", "0912345678"],
    ["is of another country, without its plus", "12024561111"],
    ["has a plus but no country code", "+0712345678"],
    ["has two pluses", "++254712345678"],
    ["is a plus alone", "+"],
    ["is written in letters", "0800FLOWERS"],
    ["has a letter among its digits", "07I2345678"],
    ["ends with a space", "0712345678 "],
    ["has an extension", "0712345678 ext. 12"],
    ["has an extension in the form of a URI", "0712345678;ext=12"],
    ["has an extension in short", "0712345678x12"],
    ["has Arabic digits", "٠٧١٢٣٤٥٦٧٨"],
    ["has full-width digits", "０７１２３４５６７８"],
    ["has a line feed", "0712345678\n"],
    ["begins with a space", " 0712345678"],
    ["has a zero-width space", "0712\u200B345678"],
    ["stands among words", "call 0712345678"],
    ["is two numbers", "0712345678/0712345679"],
  ] as const) {
    it(`is refused when it ${why}: ${JSON.stringify(text)}`, () => {
      expect(parsePhoneNumber(text)).to.deep.equal({
        ok: false,
        problem: "must be a valid phone number, Kenyan such as 0712345678 or international such as +254712345678",
        code: "FORMAT",
      });
    });
  }
});
