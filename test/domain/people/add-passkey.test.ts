import { expect } from "chai";

import { passkeyIdOf } from "../../../src/domain/operator.js";
import { wordOf } from "../../support/decided.js";
import {
  changeIn,
  decideAct,
  FREE,
  GONE,
  HANA,
  linesOf,
  NOBODY,
  OTHER,
  PASSKEY,
  PASSKEY_ID,
} from "../../support/given-people.js";

const ADD = { name: "addPasskey", operatorId: HANA, passkeySha256: FREE, passkeyId: passkeyIdOf(FREE) } as const;

describe("adding a passkey to an operator", () => {
  it("gives one more", () => {
    const change = { kind: "operator.passkey_added", operatorId: HANA, passkeySha256: FREE };
    expect(changeIn(decideAct(ADD))).to.deep.equal(change);
  });

  it("shows a second person all passkeys, and what the person may do", () => {
    expect(linesOf(ADD)).to.deep.equal([
      "person: Hana > Hana",
      "roles: viewer > viewer",
      `passkeys: ${PASSKEY_ID} > ${PASSKEY_ID}, ${ADD.passkeyId}`,
      "earlier changes of the person: 2 > 2",
    ]);
  });

  for (const [expected, given] of [
    ["OPERATOR_NOT_FOUND", { operatorId: NOBODY }],
    ["OPERATOR_REVOKED", { operatorId: GONE }],
    ["replay", { passkeySha256: PASSKEY }],
    ["OPERATOR_ALREADY_EXISTS", { passkeySha256: OTHER }],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decideAct({ ...ADD, ...given }))).to.equal(expected);
    });
  }
});
