import { expect } from "chai";
import fc from "fast-check";

import {
  canBePhone,
  type MaskedPhone,
  maskPersonsIn,
  maskPhone,
  maskPhonesIn,
  maskWords,
  readMaskedPhone,
  shownPhone,
} from "../../../src/domain/values/masked-phone.js";
import { parsePhoneNumber, type PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { valid } from "../../support/names.js";

const PHONE = valid(parsePhoneNumber("+254708374149"));

describe("a masked phone number", () => {
  it("shows the first three and the last three digits", () => {
    expect(maskPhone(PHONE)).to.equal("254******149");
    expect(maskPhone(valid(parsePhoneNumber("+442079460958")))).to.equal("442******958");
  });

  it("has a plus for callers, and shows no more of a number than three digits at each end", () => {
    expect(shownPhone(maskPhone(PHONE))).to.equal("+254******149");
    expect(shownPhone("254708***149" as MaskedPhone)).to.equal("+254******149");
  });

  it("hides six digits at least, of the shortest number, too", () => {
    for (let length = 7; length <= 15; length += 1) {
      const stars = maskPhone(`+${"1".repeat(length)}` as PhoneNumber).replaceAll("1", "");
      expect(stars.length, String(length)).to.equal(Math.max(6, length - 6));
    }
  });

  for (const [what, sent, read] of [
    ["a number", "254708374149", "254******149"],
    ["a number with its plus", "+254708374149", "254******149"],
    ["a number in local form", "0708374149", "254******149"],
    ["a number without its zero", "708374149", "254******149"],
    ["a number that is masked already", "254708***149", "254******149"],
    ["a number with more stars", "2547******49", "254*******49"],
    ["a number with blanks around its stars", "2547 ***** 126", "254******126"],
    ["a short foreign number", "201234567", "******567"],
    ["a long number", "123456789012345", "123*********345"],
  ] as const) {
    it(`reads ${what}`, () => {
      expect(readMaskedPhone(sent)).to.equal(read);
    });
  }

  for (const sent of [
    "",
    "N/A",
    "6009",
    "0x254708374149",
    "254 708 374 149",
    "2547 *****",
    "a".repeat(64),
    "1234567890123456",
    "f81d4fae7dec11d0",
  ]) {
    it(`reads nothing from "${sent}"`, () => {
      expect(readMaskedPhone(sent)).to.equal(undefined);
    });
  }

  for (const [text, masked] of [
    ["call 0708374149 or +254 708 374 149", "call 254******149 or 254******149"],
    ["order 123456789012345678", "order ***"],
    ["room 12, ws_CO_191220191020363925", "room 12, ws_CO_191220191020363925"],
  ] as const) {
    it(`is hidden in the text "${text}"`, () => {
      expect(maskPhonesIn(text)).to.equal(masked);
    });
  }

  for (const [text, masked] of [
    ["paid to amina.w@example.com, as 0708374149 asked", "paid to a***@example.com, as 254******149 asked"],
    ["a@b.ke and c@d.ke", "a***@b.ke and c***@d.ke"],
    ["to amina\uFF20b.ke", "to a***\uFF20b.ke"],
    ["statement 10 of 2026-10-31, FT26304123456", "statement 10 of 2026-10-31, FT26304123456"],
  ] as const) {
    it(`is hidden, as is the name in an address, in the note "${text}"`, () => {
      expect(maskPersonsIn(text)).to.equal(masked);
    });
  }

  for (const [words, masked] of [
    ["0711/223/344", "254******344"],
    ["0711_223_344", "254******344"],
    ["0711,223,344", "254******344"],
    ["O711223344", "***"],
    ["O7ll 223 344", "***"],
    ["\uFF10711223344", "***"],
    ["tel0711223344zed", "tel254******344zed"],
    ["rent of 0711223344, flat 4", "rent of 254******344, flat 4"],
    ["0711223344 / 0733111222", "254******344 / 254******222"],
    ["+49 151 23456789", "+491*******789"],
    ["rent a@b.ke 0711223344", "r***@b.ke 254******344"],
    ["rent a\uFF20b.ke", "r***\uFF20b.ke"],
    ["@b.ke", "***@b.ke"],
    // A wrong number of 8 digits is no personal data, and shows a slip.
    ["20000017", "20000017"],
    ["acc 20000017 flat 12", "acc 20000017 flat 12"],
    ["water bill, 12 October 2026", "water bill, 12 October 2026"],
  ] as const) {
    it(`is hidden in the words "${words}"`, () => {
      expect(maskWords(words)).to.equal(masked);
    });
  }

  it("is hidden in words, however a person spells it, with anything but letters between", () => {
    const zeros = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xff10, 0x1d7ce, 0x1d7f6, 0x1fbf0];
    const letters: Readonly<Record<string, readonly string[]>> = { 0: ["O", "o", "\u041E"], 1: ["l", "I", "i", "|"] };
    const digit = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.constantFrom(...zeros), fc.nat(3), fc.boolean());
    const between = fc.stringMatching(/^[^\p{L}\p{N}@\uFF20\uFE6B|]{0,4}$/u);
    const spelt = fc.array(fc.tuple(digit, between), { minLength: 9, maxLength: 15 });
    fc.assert(
      fc.property(spelt, fc.constantFrom("", "rent, ", "(ref) "), (parts, before) => {
        const signs = parts.map(([[value, zero, which, isLetter]]) => {
          const alike = isLetter ? letters[value] : undefined;
          return alike?.[which % alike.length] ?? String.fromCodePoint(zero + value);
        });
        const words = before + signs.map((sign, index) => sign + (parts[index]?.[1] ?? "")).join("");
        const left = Array.from(maskWords(words).slice(before.length)).filter((sign) => signs.includes(sign));
        // Three digits at each end stay.
        expect(left.length, words).to.be.at.most(6);
      }),
      { numRuns: 1_000 },
    );
  });

  for (const [what, sent, agrees] of [
    ["the number itself", "254708374149", true],
    ["the number in local form", "0708374149", true],
    ["a mask of it", "25470****149", true],
    ["only stars", "************", true],
    ["another last digit", "254708***148", false],
    ["another country", "255708374149", false],
    ["another length", "25470837149", false],
    ["the beginning of the number alone", "254708374", false],
  ] as const) {
    it(`${agrees ? "can" : "cannot"} be the phone number if it is ${what}`, () => {
      const masked = readMaskedPhone(sent);
      expect(masked !== undefined && canBePhone(masked, PHONE)).to.equal(agrees);
    });
  }
});
