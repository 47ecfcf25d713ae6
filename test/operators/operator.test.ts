import { expect } from "chai";

import { mayBeginPayouts, ROLES } from "../../src/operators/operator.js";

describe("to let payouts begin", () => {
  it("takes the role finance or admin, or the machine", () => {
    expect(ROLES.filter((role) => mayBeginPayouts({ roles: [role] }))).to.deep.equal(["finance", "admin"]);
    expect([mayBeginPayouts(undefined), mayBeginPayouts({ roles: [] })]).to.deep.equal([true, false]);
  });
});
