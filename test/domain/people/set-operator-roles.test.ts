import { expect } from "chai";

import { wordOf } from "../../support/decided.js";
import { changeIn, decideAct, GONE, HANA, linesOf, NOBODY } from "../../support/given-people.js";

const ADMIN = { name: "setOperatorRoles", operatorId: HANA, roles: ["admin"] } as const;

describe("setting the roles of an operator", () => {
  it("gives exactly these", () => {
    expect(changeIn(decideAct(ADMIN))).to.deep.equal({
      kind: "operator.roles_changed",
      operatorId: HANA,
      roles: ["admin"],
    });
  });

  it("shows a second person the roles, and how often the person was changed", () => {
    expect(linesOf(ADMIN)).to.deep.equal([
      "person: Hana > Hana",
      "roles: viewer > admin",
      "earlier changes of the person: 2 > 2",
    ]);
  });

  for (const [expected, given] of [
    ["OPERATOR_NOT_FOUND", { operatorId: NOBODY }],
    ["OPERATOR_REVOKED", { operatorId: GONE }],
    ["replay", { roles: ["viewer"] }],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decideAct({ ...ADMIN, ...given }))).to.equal(expected);
    });
  }
});
