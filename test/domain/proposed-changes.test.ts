import { expect } from "chai";

import { changes, outdatedIn } from "../../src/domain/change.js";
import type { Command } from "../../src/domain/operations.js";
import { type Proposal, PROPOSAL_OPEN_MILLIS } from "../../src/domain/proposal.js";
import { changesIn, contentFrom } from "../../src/domain/proposal-content.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { BatchBook } from "../../src/ledger/batch-book.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import { kindsOfAct } from "../../src/verify/books/acts.js";
import { by } from "../support/commands.js";
import { decide, effectOf, expectRefused, putOf } from "../support/decided.js";
import { givenBook, givenProposal } from "../support/given.js";
import { NOW, ORGANIZATION } from "../support/names.js";
import { rejectProposal } from "../support/operations/book.js";
import type { Proposed } from "../support/operations/row.js";
import { PROPOSED } from "../support/operations/table.js";

/** Corrections and resolved transactions: src/verify/books/proposals.ts has their rows. */
const HAS_OTHER_AUDIT = /^book\.|^transaction\.failed$/;

/** Does a command, which must have an effect. */
function apply(book: BatchBook, command: Command): void {
  book.apply(effectOf(decide(book, command)));
}

describe("a proposal", () => {
  it("without its content changes nothing that it can say", () => {
    expect(changesIn("")).to.deep.equal([]);
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

  for (const [name, { rows, command, shown, changed, thereAndBack }] of Object.entries(PROPOSED)) {
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

    /** A book in which opr_a has proposed it, and the proposal. */
    const proposedIn = () => {
      const history = givenBook({ ...rows, proposals: [] });
      apply(history, { ...command, ...by("opr_a", { newProposalId: proposal.id }) });
      const standing = history.proposal(ORGANIZATION, proposal.subject) as Proposal;
      const approve = (person: string) => {
        const facts = { ...command.facts, accountsOfAll: history.railAccountsOfCells() };
        return decide(history, { ...approval, ...by(person, { approves: proposal.id }), facts } as Proposed);
      };
      /** Puts the row of the proposal back as it was: its mac is true. */
      const putBack = () => {
        history.apply({ entries: [], puts: [{ table: "proposals", row: standing }] });
      };
      return { history, standing, approve, putBack };
    };

    if (typeof thereAndBack !== "string") {
      it(`to ${name} cannot be approved after later decisions about the same, though the first one stands again`, () => {
        const { history, approve } = proposedIn();
        for (const later of thereAndBack) apply(history, later);
        const decided = approve("opr_b");
        expect(decided.kind === "refusal" ? decided.refusal.reason : decided.kind).to.equal("PROPOSAL_OUTDATED");
        // Nor does the same command of a second person do it.
        const facts = { ...command.facts, accountsOfAll: history.railAccountsOfCells() };
        const { entries } = effectOf(decide(history, { ...command, ...by("opr_b"), facts } as Proposed));
        expect(entries.map(({ kind }) => kind)).to.satisfy(([kind]: string[]) => kind?.endsWith("proposed"));
      });
    }

    for (const [ended, end] of [
      [
        "rejected",
        ({ history }: ReturnType<typeof proposedIn>) => {
          apply(history, rejectProposal(ORGANIZATION, proposal.id, proposal.subject));
        },
      ],
      [
        "approved",
        ({ history, approve }: ReturnType<typeof proposedIn>) => {
          history.apply(effectOf(approve("opr_b")));
        },
      ],
    ] as const) {
      it(`to ${name} is closed for ever once it was ${ended}, whatever its row says`, () => {
        const given = proposedIn();
        end(given);
        given.putBack();
        expect(given.history.proposal(ORGANIZATION, proposal.subject)?.decided).to.equal(undefined);
        const decided = given.approve("opr_c");
        const state = ended.toUpperCase();
        expectRefused(decided, { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state });
        const rejection = decide(given.history, rejectProposal(ORGANIZATION, proposal.id, proposal.subject));
        expectRefused(rejection, { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state });
      });
    }

    it(`to ${name} has lapsed for ever after three days`, () => {
      const { history, standing } = proposedIn();
      const late = toUnixMillis(NOW + PROPOSAL_OPEN_MILLIS);
      const decided = decide(history, { ...approval, ...by("opr_b", { approves: standing.id }) } as Proposed, late);
      expectRefused(decided, { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state: "LAPSED" });
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
