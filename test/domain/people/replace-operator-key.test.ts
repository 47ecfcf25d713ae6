import { expect } from "chai";

import { wordOf } from "../../support/decided.js";
import { changeIn, decideAct, FREE, GONE, HANA, KEY, linesOf, NOBODY, PASSKEY } from "../../support/given-people.js";

const REPLACE = { name: "replaceOperatorKey", operatorId: HANA, keySha256: FREE } as const;

describe("replacing the key of an operator", () => {
  it("gives another one", () => {
    const change = { kind: "operator.key_replaced", operatorId: HANA, keySha256: FREE };
    expect(changeIn(decideAct(REPLACE))).to.deep.equal(change);
  });

  it("shows a second person both fingerprints, and what the person may do", () => {
    expect(linesOf(REPLACE)).to.deep.equal([
      "person: Hana > Hana",
      "roles: viewer > viewer",
      `fingerprint of the key: ${KEY} > ${FREE}`,
      "earlier changes of the person: 2 > 2",
    ]);
  });

  for (const [expected, given] of [
    ["OPERATOR_NOT_FOUND", { operatorId: NOBODY }],
    ["OPERATOR_REVOKED", { operatorId: GONE }],
    ["replay", { keySha256: KEY }],
    ["OPERATOR_ALREADY_EXISTS", { keySha256: PASSKEY }],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decideAct({ ...REPLACE, ...given }))).to.equal(expected);
    });
  }
});
