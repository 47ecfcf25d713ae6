import { expect } from "chai";

import { type FieldCode, parseSomeOf, unparsed } from "../../../src/domain/values/parsed.js";
import {
  type Metadata,
  parseDescription,
  parseIdempotencyKey,
  parseMetadata,
  parseNewReference,
  parseReference,
  parseStatusReason,
  parseUserId,
  sameMetadata,
} from "../../../src/domain/values/text.js";
import { valid } from "../../support/names.js";

const has = (codePoint: string, kind: string): string => `must be printable UTF-8 text: it has U+${codePoint}, ${kind}`;
const CONTROL = "a control character or a line break";
const UNSEEN = "which nobody sees";
const NO_TEXT = "which nobody can print";

// What nobody sees, or what is not text at all.
const UNPRINTABLE = [
  ["a tab", "a\tb", has("0009", CONTROL)],
  ["a line feed", "a\nb", has("000A", CONTROL)],
  ["a carriage return", "a\rb", has("000D", CONTROL)],
  ["a NUL", "a\0b", has("0000", CONTROL)],
  ["an escape", "a\u001Bb", has("001B", CONTROL)],
  ["a delete", "a\u007Fb", has("007F", CONTROL)],
  ["a control character past ASCII", "a\u0085b", has("0085", CONTROL)],
  ["a line separator", "a\u2028b", has("2028", CONTROL)],
  ["a paragraph separator", "a\u2029b", has("2029", CONTROL)],
  ["a zero-width space", "a\u200Bb", has("200B", UNSEEN)],
  ["a change of direction", "a\u202Eb", has("202E", UNSEEN)],
  ["a mark from right to left", "a\u200Fb", has("200F", UNSEEN)],
  ["a soft hyphen", "a\u00ADb", has("00AD", UNSEEN)],
  ["a byte order mark", "a\uFEFFb", has("FEFF", UNSEEN)],
  ["the sign for bytes that were not UTF-8", "a\uFFFDb", has("FFFD", "which stands for bytes that are not UTF-8")],
  ["half a surrogate pair, the first", "a\uD83Db", has("D83D", NO_TEXT)],
  ["half a surrogate pair, the second", "a\uDE00b", has("DE00", NO_TEXT)],
  ["a surrogate pair the wrong way round", "a\uDE00\uD83Db", has("DE00", NO_TEXT)],
  ["a private character", "a\uE000b", has("E000", NO_TEXT)],
  ["a character that does not exist", "a\uFFFFb", has("FFFF", NO_TEXT)],
] as const;

for (const [what, parse] of [
  ["a user_id", parseUserId],
  ["a reference", parseReference],
  ["the reference of a new transaction", parseNewReference],
] as const) {
  describe(what, () => {
    for (const [which, text] of [
      ["one character", "a"],
      ["128 characters", "a".repeat(128)],
      ["128 emoji, each of which counts as one character", "😀".repeat(128)],
      ["an e-mail address", "wanjiku@example.com"],
      ["words with spaces between them", "Wanjiku Kamau"],
      ["Arabic", "مرحبا"],
      ["Chinese", "你好"],
      ["letters with combining marks", "e\u0301"],
      ["punctuation and symbols", "€/£:#{}<>\\'\"`"],
    ] as const) {
      it(`may be ${which}`, () => {
        expect(parse(text)).to.deep.equal({ ok: true, value: text });
      });
    }

    // The order of rows is the order of checks.
    for (const [why, text, problem, code] of [
      ["is empty", "", "is required", "REQUIRED"],
      ["begins with a space", " a", "must not begin or end with a space", "FORMAT"],
      ["ends with a space", "a ", "must not begin or end with a space", "FORMAT"],
      ["is a space", " ", "must not begin or end with a space", "FORMAT"],
      ["begins with a space that does not break", "\u00A0a", "must not begin or end with a space", "FORMAT"],
      ["ends with a line feed", "a\n", "must not begin or end with a space", "FORMAT"],
      [
        "has 129 characters and a space at the end",
        `${"a".repeat(128)} `,
        "must not begin or end with a space",
        "FORMAT",
      ],
      ["has 129 characters", "a".repeat(129), "must have at most 128 characters", "TOO_LONG"],
      [
        "has joined emoji",
        "\u{1F469}\u200D\u{1F4BB}",
        has("200D", "a joiner: two names that differ by it would look the same"),
        "FORMAT",
      ],
      ["has 129 emoji", "😀".repeat(129), "must have at most 128 characters", "TOO_LONG"],
      [
        "has 129 characters and a tab among them",
        `a\t${"a".repeat(127)}`,
        "must have at most 128 characters",
        "TOO_LONG",
      ],
      ...UNPRINTABLE.map(([sign, text, problem]) => [`has ${sign}`, text, problem, "FORMAT"] as const),
    ] as const) {
      it(`is refused when it ${why}`, () => {
        expect(parse(text)).to.deep.equal(unparsed(problem, code));
      });
    }
  });
}

for (const [what, parse] of [
  ["a description", parseDescription],
  ["the reason of a status", parseStatusReason],
] as const) {
  describe(what, () => {
    for (const [which, text] of [
      ["empty", ""],
      ["256 characters", "a".repeat(256)],
      ["256 emoji", "😀".repeat(256)],
      ["words with spaces around them", " two words "],
    ] as const) {
      it(`may be ${which}`, () => {
        expect(parse(text)).to.deep.equal({ ok: true, value: text });
      });
    }

    for (const [why, text, problem, code] of [
      ["has 257 characters", "a".repeat(257), "must have at most 256 characters", "TOO_LONG"],
      ["has 257 emoji", "😀".repeat(257), "must have at most 256 characters", "TOO_LONG"],
      ...UNPRINTABLE.map(([sign, text, problem]) => [`has ${sign}`, text, problem, "FORMAT"] as const),
    ] as const) {
      it(`is refused when it ${why}`, () => {
        expect(parse(text)).to.deep.equal(unparsed(problem, code));
      });
    }
  });
}

describe("a reference that begins with kesc:", () => {
  for (const text of ["kesc:", "kesc:tick:2026", "kesc: "]) {
    it(`is refused for a new transaction: ${JSON.stringify(text)}`, () => {
      const problem = 'must not begin with "kesc:": such references are reserved';
      expect(parseNewReference(text)).to.deep.equal(unparsed(problem, "RESERVED"));
    });
  }

  it("is found by the filter of a list", () => {
    expect(parseReference("kesc:tick:2026")).to.deep.equal({ ok: true, value: "kesc:tick:2026" });
  });

  for (const text of ["kesc", "kesc-1", "KESC:1", "my kesc:1"]) {
    it(`is not to be mistaken for another: ${text}`, () => {
      expect(parseNewReference(text)).to.deep.equal({ ok: true, value: text });
    });
  }
});

describe("an idempotency key", () => {
  for (const text of ["k", "f47ac10b-58cc-4372-a567-0e02b2c3d479", '"quoted"', "~!@#", "k".repeat(255)]) {
    it(`may be ${text.slice(0, 40)}`, () => {
      expect(parseIdempotencyKey(text)).to.deep.equal({ ok: true, value: text });
    });
  }

  for (const [why, text, problem, code] of [
    ["is empty", "", "must not be empty", "REQUIRED"],
    ["has 256 characters", "k".repeat(256), "must have at most 255 characters", "TOO_LONG"],
  ] as const) {
    it(`is refused when it ${why}`, () => {
      expect(parseIdempotencyKey(text)).to.deep.equal(unparsed(problem, code));
    });
  }

  for (const [why, text] of [
    ["has a space", "a b"],
    ["begins with a space", " k"],
    ["ends in a line feed", "k\n"],
    ["has a tab", "a\tb"],
    ["has a delete", "a\u007Fb"],
    ["has a letter that is not ASCII", "clé"],
  ] as const) {
    it(`is refused when it ${why}`, () => {
      expect(parseIdempotencyKey(text)).to.deep.equal(
        unparsed("must be printable ASCII characters without spaces", "FORMAT"),
      );
    });
  }
});

describe("metadata", () => {
  const pairs = (count: number): [string, string][] =>
    Array.from({ length: count }, (_, index) => [`key ${String(index)}`, "value"]);

  for (const [which, given] of [
    ["none", []],
    ["20 pairs", pairs(20)],
    ["a key of 40 characters", [["k".repeat(40), "v"]]],
    ["a key of 40 emoji", [["😀".repeat(40), "v"]]],
    ["an empty value", [["k", ""]]],
    ["a value of 500 characters", [["k", "v".repeat(500)]]],
    ["a key with a meaning to JavaScript", [["__proto__", "v"]]],
  ] as const) {
    it(`may be ${which}`, () => {
      expect(parseMetadata(new Map(given))).to.deep.equal({ ok: true, value: new Map(given) });
    });
  }

  // The order of rows is the order of checks.
  const refusals: readonly [why: string, given: [string, string][], problem: string, code: FieldCode, key?: string][] =
    [
      [
        "has 21 pairs, one of them with an empty key",
        [...pairs(20), ["", "v"]],
        "must have at most 20 pairs",
        "TOO_MANY",
      ],
      [
        "has an empty key and a value that is too long",
        [["", "v".repeat(501)]],
        "has a key that must not be empty",
        "REQUIRED",
      ],
      [
        "has a key of 41 characters",
        [["k".repeat(41), "v"]],
        "has a key that must have at most 40 characters",
        "TOO_LONG",
      ],
      ["has a key with a tab", [["a\tb", "v"]], `has a key that ${has("0009", CONTROL)}`, "FORMAT"],
      ["has a value of 501 characters", [["k", "v".repeat(501)]], "must have at most 500 characters", "TOO_LONG", "k"],
      ["has a value with a line feed", [["k", "a\nb"]], has("000A", CONTROL), "FORMAT", "k"],
      ["has a wrong pair after a right one", [...pairs(1), ["k", "\0"]], has("0000", CONTROL), "FORMAT", "k"],
    ];
  for (const [why, given, problem, code, key] of refusals) {
    it(`is refused when it ${why}`, () => {
      const refused = unparsed(problem, code);
      expect(parseMetadata(new Map(given))).to.deep.equal(key === undefined ? refused : { ...refused, key });
    });
  }

  const metadata = (...given: [string, string][]): Metadata => valid(parseMetadata(new Map(given)));
  for (const [what, left, right, same] of [
    ["none is the same as none", metadata(), metadata(), true],
    ["the order of pairs does not matter", metadata(["a", "1"], ["b", "2"]), metadata(["b", "2"], ["a", "1"]), true],
    ["a pair more is other content", metadata(["a", "1"]), metadata(["a", "1"], ["b", "2"]), false],
    ["a pair less is other content", metadata(["a", "1"], ["b", "2"]), metadata(["a", "1"]), false],
    ["another value is other content", metadata(["a", "1"]), metadata(["a", "2"]), false],
    ["another key is other content", metadata(["a", "1"]), metadata(["b", "1"]), false],
    ["an empty value is not a missing one", metadata(["a", ""]), metadata(["b", ""]), false],
  ] as const) {
    it(what, () => {
      expect(sameMetadata(left, right)).to.equal(same);
    });
  }
});

describe("words of a list", () => {
  for (const [what, given, expected] of [
    ["in the order of the list", ["b", "a"], { ok: true, value: ["a", "b"] }],
    ["once, if one is repeated", ["b", "b"], { ok: true, value: ["b"] }],
    ["not without any", [], unparsed("is required", "REQUIRED")],
    ["not with an unknown one", ["a", "d"], unparsed("must be one of a, b, c", "UNKNOWN_VALUE")],
  ] as const) {
    it(`are taken ${what}`, () => {
      expect(parseSomeOf(given, ["a", "b", "c"])).to.deep.equal(expected);
    });
  }
});
