import { expect } from "chai";

import type { OperatorName, PersonChange } from "../../../src/domain/operator.js";
import { decideAboutPeople } from "../../../src/domain/people/operations.js";
import { operatorsOf, People, unlessLapsed } from "../../../src/domain/people/people.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { NO_REASON } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { by } from "../../support/commands.js";
import { asShown, effectOf, wordOf } from "../../support/decided.js";
import { ACTS, changeIn, decideAct, HANA, house, proposalIn } from "../../support/given-people.js";
import { EARLIER, NOW } from "../../support/names.js";

const WAITS = { groups: ["operators"] } as const;
const ADMIN = { name: "setOperatorRoles", operatorId: HANA, roles: ["admin"] } as const;
const since = (change: Omit<PersonChange, "actor" | "recordedAt">): PersonChange => ({
  ...change,
  actor: OPERATOR,
  recordedAt: NOW,
});

describe("an act about an operator that waits for a second person", () => {
  const proposal = proposalIn(decideAct(ADMIN, { authority: by("opr_a", WAITS).authority }));
  const approval = (person: string, acts: readonly PersonChange[] = []) =>
    decideAct(asShown(ADMIN, proposal.content), {
      acts,
      proposals: [proposal],
      authority: by(person, { ...WAITS, approves: proposal.id }).authority,
    });

  it("is done by the approval of another person, and both are its authors", () => {
    const decision = approval("opr_b");
    expect(changeIn(decision)).to.include({ kind: "operator.roles_changed" });
    const { person, puts } = effectOf(decision);
    expect(person?.actor).to.equal("opr_a,opr_b");
    expect(puts.map(({ row }) => row)).to.have.nested.property("[0].decided.as", "APPROVED");
  });

  it("is done by the equal act of another person, and stays one proposal for the same person", () => {
    const again = (person: string) =>
      decideAct(ADMIN, { proposals: [proposal], authority: by(person, WAITS).authority });
    expect(changeIn(again("opr_b"))).to.include({ kind: "operator.roles_changed" });
    expect(again("opr_a")).to.deep.equal({
      kind: "replay",
      resource: { proposal },
      effect: { entries: [], puts: [] },
    });
  });

  for (const [what, person] of [
    ["its proposer", "opr_a"],
    ["whom it is about", HANA],
  ] as const) {
    it(`is not approved by ${what}`, () => {
      expect(wordOf(approval(person))).to.equal("OWN_PROPOSAL");
    });
  }

  it("is outdated by any later act about the same person, whatever that has left", () => {
    const back = (["support", "viewer"] as const).map((role) =>
      since({ kind: "operator.roles_changed", operatorId: HANA, roles: [role] }),
    );
    const what = "earlier changes of the person";
    const refusal = { reason: "PROPOSAL_OUTDATED", proposalId: proposal.id, what, before: "2", now: "4" };
    expect(approval("opr_b", back)).to.deep.equal({ kind: "refusal", refusal });
  });

  it("ends with its rejection, and again is a replay", () => {
    const command = {
      ...house(by("opr_b").authority),
      name: "rejectProposal",
      proposalId: proposal.id,
      subject: proposal.id,
      person: "opr_b" as Decider,
      note: NO_REASON,
    } as const;
    const reject = (given = proposal) => decideAboutPeople(new People(ACTS, [given]), command, NOW, NOW);
    const [put] = effectOf(reject()).puts;
    expect(put).to.have.nested.property("row.decided.as", "REJECTED");
    expect(wordOf(reject(put?.row as typeof proposal))).to.equal("replay");
  });

  it("lapses for ever once its proposer has lost the right", () => {
    const operatorId = "opr_a" as typeof HANA;
    const created = { kind: "operator.created", operatorId, name: "Alice" as OperatorName, roles: ["admin"] } as const;
    const alice: PersonChange = { ...created, actor: OPERATOR, recordedAt: EARLIER };
    const roles = (role: "admin" | "viewer", at: number): PersonChange => ({
      ...since({ kind: "operator.roles_changed", operatorId, roles: [role] }),
      recordedAt: toUnixMillis(at),
    });
    const stateAfter = (...acts: readonly PersonChange[]) =>
      unlessLapsed(proposal, operatorsOf([...ACTS, alice, ...acts])).decided?.as;
    expect(stateAfter()).to.equal(undefined);
    expect(stateAfter(roles("viewer", NOW + 1))).to.equal("LAPSED");
    expect(stateAfter(roles("viewer", NOW + 1), roles("admin", NOW + 2))).to.equal("LAPSED");
    expect(unlessLapsed(proposal, []).decided?.as).to.equal("LAPSED");
  });
});

describe("the people of the house", () => {
  it("are refused as a whole when an act comes before that which created the person, or creates one twice", () => {
    expect(() => operatorsOf(ACTS.slice(1))).to.throw("before the one that created opr_hana");
    expect(() => operatorsOf([...ACTS, ...ACTS.slice(0, 1)])).to.throw("or a second one");
  });
});
