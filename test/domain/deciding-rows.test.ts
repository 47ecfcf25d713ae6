import { expect } from "chai";

import type { Authority } from "../../src/domain/authority.js";
import { haveDiffered, limitsOf } from "../../src/domain/book/set-limits.js";
import { closedBy } from "../../src/domain/deciding-rows.js";
import type { DecidingKind, DecidingRow } from "../../src/domain/journal.js";
import { limitsText, NO_LIMITS, type TierName } from "../../src/domain/limits/limits.js";
import { contentFrom } from "../../src/domain/proposal-content.js";
import { toCents } from "../../src/domain/values/cents.js";
import { by } from "../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../support/decided.js";
import { givenProposal } from "../support/given.js";
import { ORGANIZATION } from "../support/names.js";
import type { Proposed } from "../support/operations/row.js";
import { PROPOSED } from "../support/operations/table.js";

const row = (kind: DecidingKind, detail: string): DecidingRow => ({
  organizationId: ORGANIZATION,
  accountId: undefined,
  transactionId: undefined,
  kind,
  detail,
  seq: 2,
});

describe("the rows after a proposal", () => {
  for (const [kind, as] of [
    ["book.proposal_rejected", "REJECTED"],
    ["book.proposal_approved", "APPROVED"],
    ["book.proposed", "LAPSED"],
  ] as const) {
    it(`close it by ${kind} of its subject as ${as}, and by none of another subject`, () => {
      const proposal = givenProposal({ subject: "prp_one", seq: 1, content: "{}" });
      const ends = ["prp_one", "prp_other"].map((subject) =>
        closedBy([row(kind, JSON.stringify([subject, "opr_b", "{}"]))], proposal),
      );
      expect(ends).to.deep.equal([as, undefined]);
    });
  }

  it("differ in limits where those of a tier, or of the organization, were other ones", () => {
    const small = "small" as TierName;
    const limits = {
      organization: NO_LIMITS,
      tiers: new Map([[small, { ...NO_LIMITS, MINT: { DAY: toCents(100) } }]]),
    };
    const lower = { organization: { ...NO_LIMITS, MINT: { DAY: toCents(50) } }, tiers: new Map() };
    expect([[small], [undefined]].map((tiers) => haveDiffered(tiers, lower, limits))).to.deep.equal([true, true]);
    expect([[small], [undefined]].map((tiers) => haveDiffered(tiers, limits, limits))).to.deep.equal([false, false]);
    expect(haveDiffered([undefined], limitsOf({ limits: undefined }), limits)).to.equal(false);
  });

  it("touch the proposal of a tier only where its limits became other ones", () => {
    const kind = PROPOSED["setAccountTier"];
    if (kind === undefined) throw new Error("the kind is gone");
    const proposed = putOf(effectOf(decide(kind.rows, { ...kind.command, ...by("opr_a") })), "proposals");
    if (proposed === undefined) throw new Error("nothing was proposed");
    const proposal = { ...proposed, seq: 1 };
    const [head] = kind.rows.books ?? [];
    const asked = { ...kind.command, ...contentFrom(proposal.content), ...by("opr_b", { approves: proposal.id }) };
    const other = { organization: NO_LIMITS, tiers: new Map() };
    const decisions = [limitsOf(head ?? { limits: undefined }), other].map((limits) => {
      const decidingRows = [row("limits.set", JSON.stringify(["", limitsText(limits)]))];
      return wordOf(decide({ ...kind.rows, proposals: [proposal], decidingRows }, asked as Proposed));
    });
    expect(decisions).to.deep.equal(["effect", "PROPOSAL_OUTDATED"]);
  });

  for (const [name, known] of [
    ["knows nobody who may propose", undefined],
    ["does not know the proposer", new Map()],
  ] as const) {
    it(`let no equal command approve if its caller ${name}`, () => {
      const kind = PROPOSED["setAccountTier"];
      if (kind === undefined) throw new Error("the kind is gone");
      const proposal = putOf(effectOf(decide(kind.rows, { ...kind.command, ...by("opr_a") })), "proposals");
      if (proposal === undefined) throw new Error("nothing was proposed");
      const asked = { ...kind.command, ...by("opr_b") };
      const authority: Partial<Authority> = { ...asked.authority };
      delete (authority as { proposers?: unknown }).proposers;
      const of = known === undefined ? authority : { ...authority, proposers: known };
      const decision = decide({ ...kind.rows, proposals: [proposal] }, { ...asked, authority: of } as Proposed);
      expect(effectOf(decision).entries.map((entry) => entry.kind)).to.deep.equal(["book.proposed"]);
    });
  }
});
