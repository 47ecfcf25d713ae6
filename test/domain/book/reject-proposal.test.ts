import { expect } from "chai";

import type { ProposalDecision } from "../../../src/domain/proposal.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenProposal } from "../../support/given.js";
import { EARLIER, newProposalId, NOW, ORGANIZATION } from "../../support/names.js";
import { rejectProposal } from "../../support/operations/book.js";

describe("rejecting a proposal", () => {
  const proposal = givenProposal({ content: "x", sealed: { hex: "5ec4e7", sha256: "" } });
  const command = rejectProposal(ORGANIZATION, proposal.id);
  const by = command.person;

  it("ends it, and its secret is gone", () => {
    const effect = effectOf(decide({ proposals: [proposal] }, command));
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["book.proposal_rejected"]);
    const decided = { as: "REJECTED", by, at: NOW };
    expect(putOf(effect, "proposals")).to.deep.equal({ ...proposal, decided, sealed: undefined, seq: 2 });
  });

  for (const [expected, given, asked] of [
    ["PROPOSAL_NOT_FOUND", {}, { proposalId: newProposalId() }],
    ["PROPOSAL_CLOSED", { expiresAt: NOW }, {}],
    ["PROPOSAL_CLOSED", { decided: { as: "APPROVED", by, at: EARLIER } satisfies ProposalDecision }, {}],
    ["replay", { decided: { as: "REJECTED", by, at: EARLIER } satisfies ProposalDecision }, {}],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decide({ proposals: [{ ...proposal, ...given }] }, { ...command, ...asked }))).to.equal(expected);
    });
  }
});
