import { expect } from "chai";

import { passkeyIdOf, type PersonChange } from "../../../src/domain/operator.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { by } from "../../support/commands.js";
import { wordOf } from "../../support/decided.js";
import { changeIn, decideAct, FREE, GONE, HANA, NOBODY, PASSKEY, PASSKEY_ID } from "../../support/given-people.js";
import { NOW } from "../../support/names.js";

const REMOVE = { name: "removePasskey", operatorId: HANA, passkeyId: PASSKEY_ID } as const;
const CHANGE = { kind: "operator.passkey_removed", operatorId: HANA, passkeySha256: PASSKEY } as const;
const REMOVED: PersonChange = { ...CHANGE, actor: OPERATOR, recordedAt: NOW };

describe("removing a passkey of an operator", () => {
  it("takes it away, and needs nobody else", () => {
    const { authority } = by("opr_a", { groups: ["operators"] });
    const decision = decideAct(REMOVE, { authority });
    expect(changeIn(decision)).to.deep.equal(CHANGE);
    expect(decision).to.have.nested.property("resource.resource.passkeys").that.deep.equals([]);
  });

  for (const [expected, given, acts] of [
    ["OPERATOR_NOT_FOUND", { operatorId: NOBODY }, []],
    ["OPERATOR_REVOKED", { operatorId: GONE }, []],
    ["PASSKEY_NOT_FOUND", { passkeyId: passkeyIdOf(FREE) }, []],
    ["replay", {}, [REMOVED]],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decideAct({ ...REMOVE, ...given }, { acts }))).to.equal(expected);
    });
  }
});
