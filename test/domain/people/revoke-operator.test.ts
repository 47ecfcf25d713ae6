import { expect } from "chai";

import { by } from "../../support/commands.js";
import { wordOf } from "../../support/decided.js";
import { changeIn, decideAct, GONE, HANA, NOBODY } from "../../support/given-people.js";
import { NOW } from "../../support/names.js";

describe("revoking an operator", () => {
  it("ends the person for ever, and needs nobody else", () => {
    const { authority } = by("opr_a", { groups: ["operators"] });
    const decision = decideAct({ name: "revokeOperator", operatorId: HANA }, { authority });
    expect(changeIn(decision)).to.deep.equal({ kind: "operator.revoked", operatorId: HANA });
    const { resource } = (decision as unknown as { readonly resource: { readonly resource: object } }).resource;
    expect(resource).to.deep.include({ revokedAt: NOW, passkeys: [] });
  });

  for (const [expected, operatorId] of [
    ["OPERATOR_NOT_FOUND", NOBODY],
    ["replay", GONE],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decideAct({ name: "revokeOperator", operatorId }))).to.equal(expected);
    });
  }
});
