import { expect } from "chai";

import { changes, outdatedIn } from "../../src/domain/change.js";
import type { Proposal } from "../../src/domain/proposal.js";
import { changesIn, contentFrom } from "../../src/domain/second-person.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import { kindsOfAct } from "../../src/verify/books/acts.js";
import { decide, effectOf, expectRefused, givenBook, givenProposal, putOf } from "../support/given.js";
import { by, PROPOSED, type Proposed } from "../support/proposed.js";

/** Corrections and resolved transactions: src/verify/books/proposals.ts has their rows. */
const HAS_OTHER_AUDIT = /^book\.|^transaction\.failed$/;

describe("a proposal", () => {
  it("of an earlier version, or without its content, changes nothing that it can say", () => {
    expect(["", "{}"].map(changesIn)).to.deep.equal([[], []]);
  });

  for (const [seen, standing, difference] of [
    [[], [], undefined],
    [[["a", "1", "2"]], [["a", "1", "2"]], undefined],
    [[["a", "1", "2"]], [["a", "3", "2"]], ["a", "1", "3"]],
    [[["a", "1", "2"]], [["a", "1", "4"]], ["a", "2", "4"]],
    [[], [["a", "1", "2"]], ["a", "", "1"]],
    [[["a", "", "2"]], [], ["a", "2", ""]],
  ] as const) {
    const listed = (all: readonly (readonly [string, string, string])[]) => changes(...all);
    it(`with ${JSON.stringify(seen)} is ${difference ? "outdated" : "current"} where ${JSON.stringify(standing)} stands`, () => {
      const found = outdatedIn(listed(seen), listed(standing));
      expect(found && [found.what, found.before, found.now]).to.deep.equal(difference);
    });
  }

  for (const [name, { rows, command, shown, changed }] of Object.entries(PROPOSED)) {
    const decision = decide(rows, { ...command, ...by("opr_a") });
    const proposal = putOf(effectOf(decision), "proposals") ?? givenProposal({ content: "" });
    const approval = { ...command, ...contentFrom(proposal.content), ...by("opr_b", { approves: proposal.id }) };
    const approved = (more: Partial<Loaded> = {}) =>
      decide({ ...rows, ...more, proposals: [proposal] }, approval as Proposed);

    it(`to ${name} says in words what it changes, and does that`, () => {
      const lines = changesIn(proposal.content).map(({ what, before, after }) => `${what}: ${before} > ${after}`);
      expect(lines).to.deep.equal(shown);
      expect(lines.join()).not.to.match(/[{}[\]"]/);
      const [{ kind } = { kind: "no row" }] = effectOf(approved()).entries;
      if (!HAS_OTHER_AUDIT.test(kind)) expect(kindsOfAct(proposal.content), "kinds by the audit").to.include(kind);
    });

    /** Decides it as if nobody in particular proposed it now, as the page of a proposal does. */
    const standing = (more: Partial<Loaded> = {}) => {
      const nobody = by("", { mayApprove: false, newProposalId: proposal.id });
      const asked = { ...command, ...contentFrom(proposal.content), ...nobody, shown: undefined } as Proposed;
      const decided = decide({ ...rows, ...more, proposals: [proposal] }, asked);
      if (decided.kind === "refusal") throw new Error(decided.refusal.reason);
      return changesIn((decided.resource as { readonly proposal: Proposal }).proposal.content);
    };
    it(`to ${name} is compared with what stands by the same decision`, () => {
      const seen = changesIn(proposal.content);
      expect(standing()).to.deep.equal(seen);
      if (changed === undefined) return;
      const [more, what, before, now] = changed;
      expect(outdatedIn(seen, standing(more))).to.deep.equal({ what, before, now });
    });

    if (changed === undefined) continue;
    it(`to ${name} cannot be approved once something else stands`, () => {
      const [more, what, before, now] = changed;
      const outdated = { reason: "PROPOSAL_OUTDATED", proposalId: proposal.id, what, before, now };
      expectRefused(approved(more), outdated);
    });

    it(`to ${name} is another one once something else stands, also for the same command of a second person`, () => {
      const book = givenBook({ ...rows, ...changed[0], proposals: [proposal] });
      const { entries, puts } = effectOf(decide(book, { ...command, ...by("opr_b") }));
      expect(entries.map(({ kind }) => kind)).to.satisfy(([kind]: string[]) => kind?.endsWith("proposed"));
      expect(puts.map(({ table }) => table)).to.include("proposals");
    });
  }
});
