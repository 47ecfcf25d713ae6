import { expect } from "chai";

import type { Authority } from "../../src/domain/authority.js";
import type { CreateApiKey } from "../../src/domain/book/create-api-key.js";
import { NO_LIMITS } from "../../src/domain/limits/limits.js";
import { type Decider, PROPOSAL_OPEN_MILLIS, PROPOSALS_WAITING_MAX } from "../../src/domain/proposal.js";
import { contentFrom, nameIn } from "../../src/domain/proposal-content.js";
import { toCents } from "../../src/domain/values/cents.js";
import { ALONE } from "../support/commands.js";
import { asShown, decide, effectOf, proposedContent, putOf, wordOf } from "../support/decided.js";
import { givenAccount, givenBook, givenDeposit, givenHead, givenProposal, railAccount } from "../support/given.js";
import { EARLIER, newProposalId, NOW, ORGANIZATION } from "../support/names.js";
import { setAccountTier, setLimits } from "../support/operations/accounts.js";
import { createApiKey } from "../support/operations/book.js";
import { returnDeposit } from "../support/operations/deposits.js";

const GROUPS = { groups: ["write_keys", "limits"] } as const;
const given = (person: string, more: Partial<Authority> = {}): Authority => ({
  ...ALONE,
  ...GROUPS,
  newProposalId: newProposalId(),
  person: person as Decider,
  ...more,
});

/** A key that may write needs a second person. */
const key = createApiKey(ORGANIZATION, { scopes: ["accounts:write"] });
const as = (person: string, more: Partial<Authority> = {}): CreateApiKey => ({
  ...key,
  authority: given(person, more),
});
const expiresAt = (NOW + 1) as typeof NOW;
const content = proposedContent(decide({}, as("opr_a")));
const standing = givenProposal({
  content,
  person: "opr_a" as Decider,
  expiresAt,
  sealed: { hex: "5ec4e7", sha256: "" },
});
const book = givenBook({ proposals: [standing] });
const approval = (person: string, proposalId = standing.id) => asShown(as(person, { approves: proposalId }), content);

describe("a second person", () => {
  it("is needed for a command of a group of the policy: it is noted, and nothing is done", () => {
    const command = as("opr_a");
    const decision = decide({}, command);
    const effect = effectOf(decision);
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["book.proposed"]);
    expect(putOf(effect, "apiKeys")).to.equal(undefined);
    expect(putOf(effect, "proposals")).to.include({
      id: command.authority.newProposalId,
      content,
      expiresAt: NOW + PROPOSAL_OPEN_MILLIS,
    });
  });

  for (const [what, command] of [
    ["a policy without the group", as("opr_a", { groups: [] })],
    ["a command that is of no group", { ...as("opr_a"), scopes: ["accounts:read"] as const }],
  ] as const) {
    it(`is not needed with ${what}`, () => {
      expect(effectOf(decide(book, command)).entries[0]?.kind).to.equal("key.created");
    });
  }

  for (const command of [as("opr_b"), approval("opr_b")]) {
    it(`does exactly what was proposed, and the row names both (${command.authority.approves ?? "equal command"})`, () => {
      const effect = effectOf(decide(book, command));
      expect(effect.entries[0]).to.include({ kind: "key.created", actor: "opr_a,opr_b" });
      const decided = { as: "APPROVED", by: "opr_b", at: NOW };
      expect(putOf(effect, "proposals")).to.deep.equal({ ...standing, decided, sealed: undefined });
    });
  }

  for (const [what, command] of [
    ["the proposer", as("opr_a")],
    ["a person who may not approve", as("opr_b", { mayApprove: false })],
  ] as const) {
    it(`is not ${what}: the equal command returns the proposal that stands`, () => {
      const decision = decide(book, command);
      expect(decision).to.have.nested.include({ kind: "replay", "resource.proposal": standing });
    });
  }

  for (const [expected, proposal, command] of [
    ["PROPOSAL_NOT_FOUND", standing, approval("opr_b", newProposalId())],
    ["OWN_PROPOSAL", standing, approval("opr_a")],
    ["PROPOSAL_CLOSED", { ...standing, expiresAt: NOW }, approval("opr_b")],
    ["PROPOSAL_CLOSED", { ...standing, content: "" }, approval("opr_b")],
    ["PROPOSAL_CLOSED", { ...standing, decided: { as: "REJECTED", by: undefined, at: EARLIER } }, approval("opr_b")],
    ["replay", { ...standing, decided: { as: "APPROVED", by: "opr_b" as Decider, at: EARLIER } }, approval("opr_b")],
  ] as const) {
    it(`decides ${expected} on an approval`, () => {
      expect(wordOf(decide({ proposals: [proposal] }, command))).to.equal(expected);
    });
  }

  it("leaves a proposal as it was if the act is so already", () => {
    const { newKeyId: id, label: name, scopes, secretSha256 } = key;
    const times = { createdAt: EARLIER, expiresAt: undefined, revokedAt: undefined };
    const apiKeys = [{ id, organizationId: ORGANIZATION, name, scopes, secretSha256, ...times }];
    const decision = decide({ proposals: [standing], apiKeys }, approval("opr_b"));
    expect(decision).to.deep.include({ kind: "replay", effect: { entries: [], puts: [] } });
  });

  it("leaves a proposal as it was if the act is refused", () => {
    const tier = {
      ...setAccountTier(ORGANIZATION, givenAccount().id),
      authority: given("opr_b", { approves: standing.id }),
    };
    const account = givenAccount({ id: tier.accountId, tier: "other" as never });
    const limits = {
      organization: NO_LIMITS,
      tiers: new Map([["other" as never, { MINT: { DAY: toCents(1) }, REDEEM: {} }]]),
    };
    const books = [givenHead({ limits: { ...limits, since: EARLIER, usage: undefined } })];
    const ask = { ...tier, authority: given("opr_a") };
    const content = proposedContent(decide({ books, accounts: [account] }, ask));
    const waiting = givenBook({ proposals: [{ ...standing, content }] });
    expect(wordOf(decide(waiting, asShown(tier, content)))).to.equal("ACCOUNT_NOT_FOUND");
  });

  it("lets at most 20 proposals of one person wait, and notes the end of those that lapsed", () => {
    const own = Array.from({ length: PROPOSALS_WAITING_MAX }, () =>
      givenProposal({ content: "else", person: "opr_a" as Decider, expiresAt }),
    );
    const full = givenBook({ proposals: own });
    expect(wordOf(decide(full, as("opr_a")))).to.equal("TOO_MANY_PROPOSALS");
    expect(wordOf(decide(full, as("opr_b")))).to.equal("effect");
    const { puts } = effectOf(decide(full, as("opr_a"), expiresAt));
    const states = puts.map(({ row }) => ("decided" in row ? row.decided?.as : undefined));
    expect(states).to.deep.equal([...Array<string>(PROPOSALS_WAITING_MAX).fill("LAPSED"), undefined]);
  });

  describe("for limits", () => {
    const DAY = toCents(100);
    const limits = {
      organization: { MINT: { DAY }, REDEEM: {} },
      tiers: new Map([["small" as never, { MINT: { DAY }, REDEEM: {} }]]),
      since: EARLIER,
      usage: undefined,
    };
    const account = givenAccount({ tier: "small" as never });
    const free = givenAccount();
    const limited = givenBook({ books: [givenHead({ limits })], accounts: [account, free] });
    const authority = given("opr_a");

    for (const [what, kind, command] of [
      ["one that rises", "book.proposed", setLimits(ORGANIZATION, { changes: { DAY: toCents(101) } })],
      ["one that ends", "book.proposed", setLimits(ORGANIZATION, { changes: { DAY: "NONE" } })],
      ["a tier that ends", "book.proposed", setLimits(ORGANIZATION, { tier: "small", changes: undefined })],
      ["one that falls", "limits.set", setLimits(ORGANIZATION, { changes: { DAY: toCents(99) } })],
      ["a new one", "limits.set", setLimits(ORGANIZATION, { changes: { MONTH: toCents(99) } })],
      ["an account that gets limits", "account.tiered", setAccountTier(ORGANIZATION, free.id, "small")],
      ["an account that loses limits", "book.proposed", setAccountTier(ORGANIZATION, account.id, "default")],
    ] as const) {
      it(`is needed only where they rise or end: ${what} is ${kind}`, () => {
        expect(effectOf(decide(limited, { ...command, authority })).entries[0]?.kind).to.equal(kind);
      });
    }

    it("is not needed for a tier without limits before and after", () => {
      const command = { ...setAccountTier(ORGANIZATION, account.id, "default"), authority };
      expect(effectOf(decide({ accounts: [account] }, command)).entries[0]?.kind).to.equal("account.tiered");
    });
  });

  describe("in every policy", () => {
    const deposit = givenDeposit();
    const account = givenAccount();
    const command = { ...returnDeposit(ORGANIZATION, deposit.id), authority: { ...ALONE, groups: [] } };
    const content = proposedContent(decide({ deposits: [deposit], accounts: [account] }, command));
    const waiting = (person: string) => givenProposal({ content, person: person as Decider, expiresAt });
    // The account at the rail lets nobody decide alone.
    const railAccounts = [railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(0) })];

    for (const [what, proposals, kinds] of [
      ["is needed without any group in the policy", [], ["book.proposed"]],
      ["does what another person has proposed", [waiting("opr_b")], ["deposit.returned", "book.proposal_approved"]],
      ["is not the proposer", [waiting("amina")], undefined],
    ] as const) {
      it(what, () => {
        const rows = { deposits: [deposit], accounts: [account], railAccounts, proposals };
        const decision = decide(rows, command);
        const found = decision.kind === "effect" ? decision.effect.entries.map(({ kind }) => kind) : undefined;
        expect(found).to.deep.equal(kinds);
      });
    }
  });

  it("finds the command of a content again, but not that of another version", () => {
    expect(contentFrom(content)).to.include({ name: "createApiKey", newKeyId: key.newKeyId });
    expect(contentFrom('{"format":"kesc-act-3"}')).to.equal(undefined);
    expect(nameIn(content)).to.equal("createApiKey");
  });
});
