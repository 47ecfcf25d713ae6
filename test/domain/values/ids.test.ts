import { expect } from "chai";
import { typeid } from "typeid-js";

import {
  parseAccountId,
  parseApiKeyId,
  parseDepositId,
  parseDestinationId,
  parseFreezeId,
  parseOperatorId,
  parseOrganizationId,
  parseProposalId,
  parseTransactionId,
  parseWebhookEndpointId,
} from "../../../src/domain/values/ids.js";

const SUFFIX = "01jd2r6p5vf8ksw3xhb1z7q4ye";
const notPrintable = (codePoint: string): string =>
  `must be printable UTF-8 text: it has U+${codePoint}, a control character or a line break`;

for (const [what, prefix, parse] of [
  ["an account", "acc", parseAccountId],
  ["a transaction", "txn", parseTransactionId],
  ["a freeze", "frz", parseFreezeId],
  ["a webhook endpoint", "whe", parseWebhookEndpointId],
  ["a deposit", "dep", parseDepositId],
  ["a destination", "dst", parseDestinationId],
] as const) {
  describe(`the id of ${what}, as a caller names it`, () => {
    for (const [which, id] of [
      ["a new TypeID", typeid(prefix).toString()],
      ["an id of another service", "acc_xyz789"],
      ["a UUID", "0193c8b4-1f57-7a2f-8c1e-5a1f3e9b27ce"],
      ["an amount", "10.00"],
      ["128 characters", "x".repeat(128)],
      ["128 emoji", "😀".repeat(128)],
    ] as const) {
      it(`may be ${which}: no such resource exists then, or it does`, () => {
        expect(parse(id)).to.deep.equal({ ok: true, value: id });
      });
    }

    for (const [why, id, problem, code] of [
      ["is empty", "", "is required", "REQUIRED"],
      ["has 129 characters", "x".repeat(129), "must have at most 128 characters", "TOO_LONG"],
      ["has a line feed", `${prefix}_\n1`, notPrintable("000A"), "FORMAT"],
      ["has a null character", `${prefix}_\0`, notPrintable("0000"), "FORMAT"],
      ["ends with a space", `${prefix}_1 `, "must not begin or end with a space", "FORMAT"],
    ] as const) {
      it(`is refused when it ${why}`, () => {
        expect(parse(id)).to.deep.equal({ ok: false, problem, code });
      });
    }
  });
}

for (const [what, prefix, parse] of [
  ["an organization", "org", parseOrganizationId],
  ["an API key", "key", parseApiKeyId],
  ["an operator", "opr", parseOperatorId],
  ["a proposal", "prp", parseProposalId],
] as const) {
  describe(`the id of ${what}`, () => {
    for (const [which, id] of [
      ["a new TypeID", typeid(prefix).toString()],
      ["the lowest", `${prefix}_${"0".repeat(26)}`],
      ["the highest", `${prefix}_7${"z".repeat(25)}`],
    ] as const) {
      it(`may be ${which}`, () => {
        expect(parse(id)).to.deep.equal({ ok: true, value: id });
      });
    }

    it("is required", () => {
      expect(parse("")).to.deep.equal({ ok: false, problem: "is required", code: "REQUIRED" });
    });

    for (const [why, id] of [
      ["has another prefix", `usr_${SUFFIX}`],
      ["has no prefix", SUFFIX],
      ["has nothing but a prefix", `${prefix}_`],
      ["has no line between its parts", `${prefix}${SUFFIX}`],
      ["has another line between its parts", `${prefix}-${SUFFIX}`],
      ["has a prefix in upper case", `${prefix.toUpperCase()}_${SUFFIX}`],
      ["has letters in upper case", `${prefix}_${SUFFIX.toUpperCase()}`],
      ["has an i, which looks like a 1", `${prefix}_${SUFFIX.slice(0, -1)}i`],
      ["has an l, which looks like a 1", `${prefix}_${SUFFIX.slice(0, -1)}l`],
      ["has an o, which looks like a 0", `${prefix}_${SUFFIX.slice(0, -1)}o`],
      ["has a u", `${prefix}_${SUFFIX.slice(0, -1)}u`],
      ["holds more than 128 bits", `${prefix}_8${SUFFIX.slice(1)}`],
      ["is a character short", `${prefix}_${SUFFIX.slice(0, -1)}`],
      ["is a character long", `${prefix}_${SUFFIX}0`],
      ["ends in a line feed", `${prefix}_${SUFFIX}\n`],
      ["begins with a space", ` ${prefix}_${SUFFIX}`],
      ["has the prefix twice", `${prefix}_${prefix}_${SUFFIX}`],
      ["is a UUID", "0193c8b4-1f57-7a2f-8c1e-5a1f3e9b27ce"],
    ] as const) {
      it(`is refused when it ${why}`, () => {
        const problem = `must be an id such as ${prefix}_${SUFFIX}`;
        expect(parse(id)).to.deep.equal({ ok: false, problem, code: "FORMAT" });
      });
    }
  });
}

it("the id of an organization is never that of a key", () => {
  expect(parseOrganizationId(`key_${SUFFIX}`).ok).to.equal(false);
  expect(parseApiKeyId(`org_${SUFFIX}`).ok).to.equal(false);
});
