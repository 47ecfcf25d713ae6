import { expect } from "chai";

import { type OperatorName, passkeyIdOf } from "../../../src/domain/operator.js";
import { wordOf } from "../../support/decided.js";
import { changeIn, decideAct, FREE, KEY, linesOf, OTHER } from "../../support/given-people.js";

const WHO = { roles: ["support", "viewer"] } as const;
const INES = { name: "createOperator", operatorName: "Ines" as OperatorName, ...WHO } as const;
const OF_PASSKEY = { passkeySha256: FREE, passkeyId: passkeyIdOf(FREE) };

describe("creating an operator", () => {
  it("makes a person with a key, or with a passkey", () => {
    const created = { kind: "operator.created", operatorId: "opr_new", name: "Ines", ...WHO };
    expect(changeIn(decideAct({ ...INES, keySha256: FREE }))).to.deep.equal({ ...created, keySha256: FREE });
    expect(changeIn(decideAct({ ...INES, ...OF_PASSKEY }))).to.deep.equal({ ...created, passkeySha256: FREE });
  });

  it("shows a second person who it is, and by what the person signs in", () => {
    const who = ["person:  > Ines", "roles:  > support, viewer"];
    expect(linesOf({ ...INES, keySha256: FREE })).to.deep.equal([...who, `fingerprint of the key:  > ${FREE}`]);
    expect(linesOf({ ...INES, ...OF_PASSKEY })).to.deep.equal([...who, `passkey:  > ${OF_PASSKEY.passkeyId}`]);
  });

  for (const [what, given] of [
    ["the name of another", { operatorName: "hana" as OperatorName, keySha256: FREE }],
    ["the key of another", { keySha256: KEY }],
    ["the passkey of one who was revoked", { passkeySha256: OTHER, passkeyId: passkeyIdOf(OTHER) }],
  ] as const) {
    it(`is refused for ${what}`, () => {
      expect(wordOf(decideAct({ ...INES, ...given }))).to.equal("OPERATOR_ALREADY_EXISTS");
    });
  }
});
