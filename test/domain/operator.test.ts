import { expect } from "chai";

import {
  actorOf,
  hasRoleSince,
  isOperatorKey,
  mayBeginPayouts,
  type Operator,
  parseFingerprint,
  parseOperatorName,
  parsePasskeyId,
  parseRoles,
  type Role,
  ROLES,
} from "../../src/domain/operator.js";
import { bookOfProposal, HOUSE } from "../../src/domain/people/people.js";
import { proposalAt } from "../../src/domain/proposal.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { givenProposal } from "../support/given.js";
import { HANA, PASSKEY_ID } from "../support/given-people.js";
import { NOW, ORGANIZATION } from "../support/names.js";

describe("an operator", () => {
  it("lets payouts begin with the role finance or admin, as the machine does", () => {
    expect(ROLES.filter((role) => mayBeginPayouts({ roles: [role] }))).to.deep.equal(["finance", "admin"]);
    expect([mayBeginPayouts(undefined), mayBeginPayouts({ roles: [] })]).to.deep.equal([true, false]);
  });

  it("is the author of rows by the id, and the machine by its word", () => {
    expect([actorOf({ id: HANA }), actorOf(undefined)]).to.deep.equal([HANA, OPERATOR]);
  });

  for (const [since, what, ...history] of [
    [0, "who always had it", ["admin"]],
    [2, "who got it back", ["admin"], [], ["admin"]],
    [undefined, "who has lost it", ["admin"], ["viewer"]],
  ] as readonly (readonly [since: number | undefined, what: string, ...history: (readonly Role[])[]])[]) {
    it(`has a role since ${String(since)}, ${what}`, () => {
      const operator = { history: history.map((roles, at) => ({ at: toUnixMillis(at), roles })) };
      expect(hasRoleSince(operator as unknown as Operator, ["admin"])).to.equal(since);
    });
  }

  it("has a name, roles, a key and passkeys of their forms", () => {
    const key = `kesc_op_${"a".repeat(43)}`;
    expect([isOperatorKey(key), isOperatorKey(`${key}a`)]).to.deep.equal([true, false]);
    const problems = [
      parseOperatorName(" Hana"),
      parseRoles(["king"]),
      parseFingerprint(""),
      parseFingerprint("1"),
      parsePasskeyId(""),
      parsePasskeyId("1"),
    ];
    expect(problems.map(({ ok }) => ok)).to.deep.equal(problems.map(() => false));
    const values = [parseOperatorName("Hana"), parseRoles(["viewer", "admin"]), parseFingerprint("1".repeat(64))];
    expect([...values, parsePasskeyId(PASSKEY_ID)].every(({ ok }) => ok)).to.equal(true);
  });
});

describe("a proposal", () => {
  it("has lapsed once its time is over, and nobody has decided it", () => {
    const proposal = givenProposal({ content: "x" });
    const over = { ...proposal, expiresAt: NOW };
    expect(proposalAt(over, NOW).decided).to.include({ as: "LAPSED", by: undefined });
    expect(proposalAt({ ...over, expiresAt: toUnixMillis(NOW + 1) }, NOW).decided).to.equal(undefined);
  });

  it("lies in the book of an organization, unless it is about an operator", () => {
    const owners = [ORGANIZATION, HOUSE].map((organizationId) =>
      bookOfProposal(givenProposal({ organizationId, content: "x" })),
    );
    expect(owners).to.deep.equal([ORGANIZATION, undefined]);
  });
});
