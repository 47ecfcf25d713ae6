import { expect } from "chai";
import { renderToString } from "preact-render-to-string";

import type { Proposal as ProposalMessage } from "../../console/gen/messages.js";
import type { View, Visit } from "../../console/page.js";
import { approvalsPage, proposalPage } from "../../console/pages/approvals.js";
import type { Change } from "../../src/domain/change.js";
import { type OperatorName, passkeyIdOf } from "../../src/domain/operator.js";
import type { Proposal } from "../../src/domain/proposal.js";
import { changesIn, contentFrom } from "../../src/domain/proposal-content.js";
import { by } from "../support/commands.js";
import { decide, effectOf, putOf } from "../support/decided.js";
import { decideAct, FREE, HANA, proposalIn } from "../support/given-people.js";
import type { Proposed } from "../support/operations/row.js";
import { PROPOSED } from "../support/operations/table.js";
import { textOf } from "./browser-like.js";

const ID = "prp_01jd2r6p5vf8ksw3xhb1z7q4ye";
const OF_OPERATORS: readonly Parameters<typeof decideAct>[0][] = [
  { name: "createOperator", operatorName: "Hana II" as OperatorName, roles: ["support"], keySha256: FREE },
  { name: "addPasskey", operatorId: HANA, passkeySha256: FREE, passkeyId: passkeyIdOf(FREE) },
  { name: "setOperatorRoles", operatorId: HANA, roles: ["admin", "finance"] },
  { name: "replaceOperatorKey", operatorId: HANA, keySha256: FREE },
];

interface Shown {
  readonly type: string;
  readonly changes: readonly Change[];
  readonly standing?: readonly Change[];
  readonly refusal?: string;
}

/** The page of a proposal as an approver reads it. */
async function pageOf({ type, changes, standing = changes, refusal }: Shown): Promise<string> {
  const proposal: Partial<ProposalMessage> = {
    id: ID,
    type,
    content: JSON.stringify({ name: type }),
    changes: changes,
    state: "pending",
    proposer_name: "Amina",
    proposed_at: "2026-01-31T10:00:00.000Z",
    expires_at: "2026-02-03T10:00:00.000Z",
    organization_id: null,
    subject_id: null,
    decider_name: null,
    decided_at: null,
  };
  const value = { proposal, standing, refusal: refusal ?? null };
  const visit = {
    path: `/approvals/${ID}`,
    ids: { prp: ID },
    person: { id: "opr_2", roles: ["approver"] },
    organizations: [],
    acts: new Map(),
    read: (rpc: string) =>
      Promise.resolve(
        rpc === "AdminService/GetProposal" ? { ok: true, value } : { ok: false, refusal: { text: "It was not read." } },
      ),
  } as unknown as Visit;
  return textOf(renderToString(((await proposalPage.show(visit)) as View).body));
}

describe("the page of approvals", () => {
  it("has the decided proposals in the order of the server, and the customers by their user_id", async () => {
    const accountId = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
    const of = (id: string, state: string, about: Partial<ProposalMessage>) => ({
      ...{ id, state, type: "unfreezeAccount", content: "{}", changes: [], organization_id: "org_1", subject_id: null },
      ...{ proposed_by: "opr_1", proposer_name: "Amina", proposed_at: "2026-01-31T10:00:00.000Z", expires_at: null },
      ...{ decider_name: "Brian", decided_at: "2026-01-31T11:00:00.000Z", ...about },
    });
    const rows = [
      of("prp_3", "approved", { subject_id: accountId, proposer_name: "Newest" }),
      of("prp_2", "pending", { subject_id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" }),
      of("prp_1", "rejected", { organization_id: "org_2", subject_id: accountId, proposer_name: "Oldest" }),
    ];
    const asked: unknown[] = [];
    const visit = {
      path: "/org_1/approvals",
      query: new URLSearchParams(),
      person: { id: "opr_2", roles: ["approver"] },
      organization: { id: "org_1" },
      organizations: [{ id: "org_2", name: "Other" }],
      read: (rpc: string, fields: Readonly<Record<string, unknown>>) => {
        asked.push([rpc, fields["account_ids"]]);
        const proposals = rows.filter(({ state }) => fields["include_closed"] === true || state === "pending");
        const value =
          rpc === "AdminService/ListProposals"
            ? { proposals, next_page_token: "more" }
            : { accounts: [{ id: accountId, user_id: "wanjiku" }], next_page_token: null };
        return Promise.resolve({ ok: true, value });
      },
    } as unknown as Visit;
    const html = renderToString(((await approvalsPage.show(visit)) as View).body);
    const decided = textOf(html.slice(html.indexOf("Decided")));
    expect(decided)
      .to.match(/wanjiku Newest .*Other Oldest .*Older/)
      .and.not.include("txn_");
    expect(asked.at(-1)).to.deep.equal(["AccountService/ListAccounts", [accountId]]);
    expect(asked).to.have.length(4);
  });
});

/** The cents in a command, as no page may show them. */
function centsIn(value: unknown, name = ""): readonly string[] {
  if (typeof value === "number") return /Cents$/.test(name) && value >= 100 ? [String(value)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => centsIn(each, key));
}

describe("the page of a proposal", () => {
  for (const [name, { rows, command, changed }] of Object.entries(PROPOSED)) {
    it(`to ${name} has no brace and no cents, and marks what has changed since`, async () => {
      const proposal = putOf(effectOf(decide(rows, { ...command, ...by("opr_a") })), "proposals") as Proposal;
      const changes = changesIn(proposal.content);
      const text = await pageOf({ type: command.name, changes });
      expect(text).not.to.match(/[{}]/);
      for (const cents of centsIn(command)) expect(text).not.to.match(new RegExp(`(?<![\\d.,])${cents}(?![\\d.,])`));
      expect(text).to.contain("Proposed by Amina").and.not.to.contain("would be refused");
      if (changed === undefined) return;
      const asked = {
        ...command,
        ...contentFrom(proposal.content),
        ...by("", { mayApprove: false }),
        shown: undefined,
      };
      const now = decide({ ...rows, ...changed[0], proposals: [proposal] }, asked as unknown as Proposed);
      const { resource } = now as unknown as { readonly resource: { readonly proposal: Proposal } };
      const outdated = await pageOf({ type: command.name, changes, standing: changesIn(resource.proposal.content) });
      expect(outdated).to.contain("An approval would be refused").and.contain("▲ changed");
    });
  }

  for (const fields of OF_OPERATORS) {
    it(`to ${fields.name} has no brace, and names the person`, async () => {
      const { authority } = by("opr_a", { groups: ["operators"] });
      const { content } = proposalIn(decideAct(fields, { authority }));
      expect(await pageOf({ type: fields.name, changes: changesIn(content) }))
        .to.contain("Hana")
        .and.not.to.match(/[{}]/);
    });
  }

  it("says why it cannot be done now, in the words of the server", async () => {
    const refusal = "Insufficient available balance: 10.00 available, 250.00 requested.";
    const text = await pageOf({ type: "bookPayment", changes: [], standing: [], refusal });
    expect(text).to.contain("It cannot be done now").and.contain(refusal);
  });

  it("shows a time of Nairobi, a day and a setting of a rail in words", async () => {
    const changes = [
      { what: "credentials end", before: "", after: "2026-01-31T21:00:00.000Z" },
      { what: "end of the day", before: "2026-01-30", after: "2026-01-31" },
      { what: "short_code", before: "600996", after: "600997" },
      { what: "charges", before: "", after: '{"account_number":"1"}' },
    ];
    expect(await pageOf({ type: "setRailAccount", changes }))
      .to.contain("1 Feb 2026, 00:00:00")
      .and.contain("31 Jan 2026")
      .and.contain("short code 600996 600997")
      .and.contain("account number 1");
  });
});
