import type { Organization } from "../../../domain/api-key.js";
import type { Operator } from "../../../domain/operator.js";
import { type Decider, type Proposal, proposalAt } from "../../../domain/proposal.js";
import { refusalToDecide } from "../../../domain/second-person.js";
import type { OrganizationId, ProposalId } from "../../../domain/values/ids.js";
import { parsed } from "../../../domain/values/parsed.js";
import type { NO_REASON } from "../../../domain/values/text.js";
import { parseStatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { ListProposalsRequest } from "../../../gen/kesc/admin/v1/admin_service.js";
import { type Proposal as ProposalMessage, ProposalState } from "../../../gen/kesc/admin/v1/resources.js";
import type { Outcome } from "../../../ledger/ports/outcome.js";
import { authorityOfPerson } from "../../../operators/authority.js";
import { houseRpc } from "../../calls/admin-rpc.js";
import { actorOf, type Caller } from "../../calls/call-context.js";
import { pageInTurn } from "../../calls/list-turns.js";
import { organizationOr, unlessChanged } from "../../calls/named-organization.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, NEEDS_PERSON, refuse } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { ifGiven, type ParsedFields, parseFields } from "../../messages/fields.js";
import { OPERATORS_KINDS, parseId } from "../../messages/operators/fields.js";
import { namesOf, toProposal } from "../../messages/operators/messages.js";
import type { HandlersOptions } from "../operator-options.js";
import { type AnyList, formatIdToken, parseIdToken, parsePageSize } from "../paging.js";
import { commandOf, submitProposed } from "./commands-of-proposals.js";
import { isFor, lapsedIfRoleIsLost, proposalNow } from "./proposal-messages.js";
import { type Standing, standingOf } from "./standing.js";

const NOT_COMPARED: Standing = { standing: [], refusal: undefined };
/** The most proposals that a page looks at. So it may be short although there are more. */
const LOOKED_AT_MAX = 1_001;
/** The most changes of a proposal in a list, and the longest content of one that has more. */
const LISTED_CHANGES_MAX = 20;
const LISTED_CONTENT_MAX = 4_096;
/** The event loop checks the MAC of each, and parses it: that costs as much as several rows. */
const ROWS_PER_PROPOSAL = 5;

/** The rpcs about acts that need a second person. */
export function proposalRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, listTurns } = options;
  return {
    listProposals: houseRpc("listProposals", {
      parse: parseProposalList,
      run: async ({ list, afterId, size, ...filters }, caller) => {
        const { organizationId, includesClosed } = filters;
        const organization = organizationId && (await organizationOr(options, organizationId));
        if (organization !== undefined && "reason" in organization) {
          return organization.reason === "ORGANIZATION_NOT_FOUND"
            ? done({ proposals: [], next_page_token: undefined })
            : refuse(organization);
        }
        const waits = includesClosed ? undefined : { organization };
        return pageInTurn(
          { listTurns, caller },
          async () => {
            const [all, operators] = await Promise.all([
              administration.proposals({ afterId, size: LOOKED_AT_MAX, waits }),
              administration.operators(),
            ]);
            const now = all.map((proposal) => lapsedIfRoleIsLost(proposal, operators));
            const found = now.filter((proposal) => isListed(proposal, filters, caller.who.operator));
            const rows = found.slice(0, size);
            const last = found.length > size ? rows.at(-1) : all.length === LOOKED_AT_MAX ? all.at(-1) : undefined;
            return {
              rows,
              last,
              names: namesOf(operators),
              lookedAt: all.length * ROWS_PER_PROPOSAL + operators.length,
            };
          },
          ({ rows, last, names }) => ({
            proposals: rows.map((proposal) => toListed(toProposal(proposal, names))),
            next_page_token: formatIdToken(list, last?.id),
          }),
        );
      },
    }),
    getProposal: houseRpc("getProposal", {
      ...fieldsOf({ ...OPERATORS_KINDS, compare: parsed<boolean> })("proposal_id", "compare"),
      partsOf: ({ compare }) => (compare ? 1 : undefined),
      run: async ({ proposalId, compare }, caller) => {
        const proposal = await proposalNow(options, proposalId);
        if (proposal === undefined) return refuse({ reason: "PROPOSAL_NOT_FOUND", proposalId });
        const isWaiting = proposal.state === ProposalState.PROPOSAL_STATE_PENDING;
        const now = compare && isWaiting ? await standingOf(options, proposalId, caller) : NOT_COMPARED;
        return done({ proposal, standing: now.standing.map((change) => ({ ...change })), refusal: now.refusal });
      },
    }),
    approveProposal: decisionRpc(options, "approve"),
    rejectProposal: decisionRpc(options, "reject"),
  };
}

/** An act of many parts has each of them in its content and changes. A page must stay a message. */
function toListed(proposal: ProposalMessage): ProposalMessage {
  const { content, changes } = proposal;
  if (changes.length <= LISTED_CHANGES_MAX) return proposal;
  return {
    ...proposal,
    content: content.length <= LISTED_CONTENT_MAX ? content : "",
    changes: changes.slice(0, LISTED_CHANGES_MAX),
  };
}

interface ProposalFilters {
  readonly includesClosed: boolean;
  readonly organizationId: OrganizationId | undefined;
  readonly subjectId: string | undefined;
  readonly isForCaller: boolean;
}

interface AskedProposals {
  readonly list: AnyList;
  readonly afterId: ProposalId | undefined;
  readonly size: number;
}

function parseProposalList({
  include_closed: includesClosed,
  for_me: isForCaller,
  organization_id,
  subject_id,
  page_size,
  page_token,
}: ListProposalsRequest): ParsedFields<ProposalFilters & AskedProposals> {
  const filters = { include_closed: includesClosed, for_me: isForCaller, organization_id, subject_id };
  const list = { rpc: "ListProposals", organizationId: undefined, filters };
  const fields = parseFields({
    organization_id: ifGiven(organization_id, parseId<OrganizationId>),
    subject_id: ifGiven(subject_id, parseId<string>),
    page_size: parsePageSize(page_size),
    page_token: ifGiven(page_token, (token) => parseIdToken<ProposalId>(list, token)),
  });
  if (!fields.ok) return fields;
  const { organization_id: organizationId, subject_id: subjectId, page_size: size, page_token: afterId } = fields.value;
  return { ok: true, value: { includesClosed, isForCaller, organizationId, subjectId, list, afterId, size } };
}

function isListed(proposal: Proposal, filters: ProposalFilters, by: Operator | undefined): boolean {
  const { includesClosed, isForCaller, organizationId, subjectId } = filters;
  if (!includesClosed && proposal.decided !== undefined) return false;
  if (organizationId !== undefined && proposal.organizationId !== organizationId) return false;
  if (subjectId !== undefined && !isAbout(proposal, subjectId)) return false;
  return !isForCaller || isFor(proposal, by);
}

/** A content names its account, transaction, deposit or operator. */
function isAbout({ content }: Proposal, id: string): boolean {
  return content !== "" && Object.values(JSON.parse(content) as object).includes(id);
}

function decisionRpc(options: HandlersOptions, decide: "approve" | "reject"): RpcRoute {
  const { administration } = options;
  return houseRpc(`${decide}Proposal`, {
    ...fieldsOf({ ...OPERATORS_KINDS, note: parseStatusReason })("proposal_id", "note"),
    run: async ({ proposalId, note }, caller) => {
      const { operator: by } = caller.who;
      // The machine needs no second person, and is none.
      if (by === undefined) return NEEDS_PERSON;
      const found = await administration.foundProposal(proposalId);
      if (found === undefined) return refuse({ reason: "PROPOSAL_NOT_FOUND", proposalId });
      const organization = found.organization && unlessChanged(found.organization);
      if (organization !== undefined && "reason" in organization) return refuse(organization);
      const deciding = decide === "approve" ? approve : reject;
      const decided = await deciding(options, { proposal: found.proposal, organization, by, note, caller });
      if (decided.kind === "refused") return decided;
      // Read again: the command may have left it as it was.
      const response = { proposal: await proposalNow(options, proposalId) };
      return { kind: "done", response, replayed: decided.replayed };
    },
  });
}

interface AskedDecision {
  /** Undefined for a proposal about an operator. */
  readonly organization: Organization | undefined;
  readonly proposal: Proposal;
  readonly by: Operator;
  readonly note: typeof NO_REASON;
  readonly caller: Caller<undefined>;
}

/** The approval is the same command of another person: its decision compares both. */
async function approve(
  options: HandlersOptions,
  { organization, proposal, by, note, caller }: AskedDecision,
): Promise<Outcome<unknown>> {
  const { administration } = options;
  const person = by.id as string as Decider;
  const now = toUnixMillis(options.now());
  const closed = refusalToDecide(proposal, { person, now });
  if (closed !== undefined && closed !== "ALREADY_SO") return { kind: "refused", refusal: closed };
  const command = commandOf(proposal, {
    authority: { ...authorityOfPerson(administration, by, organization), approves: proposal.id },
    actor: actorOf(caller.who),
    note,
  });
  const shown = lapsedIfRoleIsLost(proposalAt(proposal, now), await administration.operators());
  const isWhole = organization === undefined || (await options.railChanges.isWhole(organization, proposal));
  if (command === undefined || shown.decided?.as === "LAPSED" || !isWhole)
    return { kind: "refused", refusal: { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state: "LAPSED" } };
  return submitProposed(options, command, { ...caller, organization });
}

function reject(
  options: HandlersOptions,
  { organization, proposal, by, note, caller }: AskedDecision,
): Promise<Outcome<unknown>> {
  const { id: proposalId, subject, organizationId } = proposal;
  const person = by.id as string as Decider;
  const command = {
    name: "rejectProposal",
    proposalId,
    subject,
    organizationId,
    actor: actorOf(caller.who),
    person,
    note,
  } as const;
  if (organization === undefined) return options.administration.submit(command);
  const { deadline, trace } = caller;
  return options.cellOf(organization).ledger.submit(command, deadline, { trace, operator: true });
}
