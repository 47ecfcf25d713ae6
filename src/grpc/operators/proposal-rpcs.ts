import type { OperatorProposalId } from "../../domain/values/ids.js";
import {
  ApproveProposalRequest,
  ApproveProposalResponse,
  ListProposalsRequest,
  ListProposalsResponse,
  RejectProposalRequest,
  RejectProposalResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { done } from "../calls/rpc-result.js";
import { parseFields } from "../messages/fields.js";
import { parseId } from "./fields.js";
import { namesOf, toProposal } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { pageInMemory, parsePage } from "./pages.js";
import { type HandlersOptions, proposalMessage } from "./results.js";

/** The rpcs about acts that need a second person. */
export function proposalRpcs(unary: OperatorUnary, { administration }: HandlersOptions): Record<string, OperatorRoute> {
  return {
    listProposals: unary({
      request: ListProposalsRequest,
      response: ListProposalsResponse,
      parse: ({ include_closed: all, ...page }) => {
        const asked = parsePage(page, { rpc: "ListProposals", filters: { include_closed: all } });
        return asked.ok ? { ok: true, value: { all, asked: asked.value } } : asked;
      },
      run: async ({ all, asked }) => {
        const proposals = await administration.proposals();
        const { items, ...next } = pageInMemory(proposals, asked, ({ state }) => all || state === "PENDING");
        const names = namesOf(await administration.operators());
        return done({ proposals: items.map((proposal) => toProposal(proposal, names)), ...next });
      },
    }),
    approveProposal: decisionRpc(unary, administration, {
      decide: "approve",
      request: ApproveProposalRequest,
      response: ApproveProposalResponse,
    }),
    rejectProposal: decisionRpc(unary, administration, {
      decide: "reject",
      request: RejectProposalRequest,
      response: RejectProposalResponse,
    }),
  };
}

interface DecisionRpc {
  readonly decide: "approve" | "reject";
  readonly request: typeof ApproveProposalRequest;
  readonly response: typeof ApproveProposalResponse;
}

function decisionRpc(
  unary: OperatorUnary,
  administration: HandlersOptions["administration"],
  { decide, request, response }: DecisionRpc,
): OperatorRoute {
  return unary({
    request,
    response,
    parse: ({ proposal_id: id }) => parseFields({ proposal_id: parseId<OperatorProposalId>(id) }),
    run: async ({ proposal_id: id }, { key: by }) => {
      const decided = await administration[decide](id, by);
      if (decided.kind === "refused") return decided;
      return done({ proposal: await proposalMessage(administration, decided.proposal) });
    },
  });
}
