import { expect } from "chai";

import { type Actor, DEMO, isOfMachine, isOfOperators, OPERATOR, WEBHOOKS } from "../../../src/domain/values/actor.js";

describe("an actor", () => {
  for (const [actor, machine, operators] of [
    [OPERATOR, true, true],
    [DEMO, true, false],
    [WEBHOOKS, false, false],
    ["opr_1", false, true],
    ["opr_1,opr_2", false, true],
    ["key_1", false, false],
  ] as const) {
    it(`"${actor}" is ${machine ? "the machine" : "not the machine"}, and ${operators ? "one" : "none"} of the operators'`, () => {
      expect([isOfMachine(actor), isOfOperators(actor as Actor)]).to.deep.equal([machine, operators]);
    });
  }
});
