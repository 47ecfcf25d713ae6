import type { Decider } from "../../domain/proposal.js";
import { refusalToDecide } from "../../domain/second-person.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import { parsed } from "../../domain/values/parsed.js";
import type { NO_REASON } from "../../domain/values/text.js";
import { parseStatusReason } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { ListProposalsRequest } from "../../gen/kesc/admin/v1/admin_service.js";
import { ProposalState } from "../../gen/kesc/admin/v1/resources.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { actorOf, type Operator } from "../../operators/operator.js";
import { type BookProposal, type OperatorProposal, proposalInBook } from "../../operators/ports.js";
import { done, refuse } from "../calls/rpc-result.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { type AnyList, formatIdToken, parseIdToken, parsePageSize } from "../services/paging.js";
import { authorityOf, type OperatorCaller, submitAct } from "./acts.js";
import { commandOf } from "./commands-of-proposals.js";
import { OPERATORS_KINDS, parseId } from "./fields.js";
import { namesOf, toProposal } from "./messages.js";
import { type OperatorRoute, unary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { isFor, proposalNow, unlessOrphaned } from "./proposal-messages.js";
import { NEEDS_PERSON } from "./results.js";
import { type Standing, standingOf } from "./standing.js";

const NOT_COMPARED: Standing = { standing: [], refusal: undefined };
/** A page of a list looks at so many at most: it may be short although there are more. */
const LOOKED_AT_MAX = 1_001;

/** The rpcs about acts that need a second person. */
export function proposalRpcs(options: HandlersOptions): Record<string, OperatorRoute> {
  const { administration } = options;
  return {
    listProposals: unary("listProposals", {
      parse: parseProposalList,
      run: async ({ list, afterId, size, ...filters }, { key }) => {
        const { organizationId, includesClosed } = filters;
        const organization = organizationId && (await administration.organization(organizationId));
        if (organizationId !== undefined && organization === undefined) {
          return done({ proposals: [], next_page_token: undefined });
        }
        const waits = includesClosed ? undefined : { organization };
        const [rows, operators] = await Promise.all([
          administration.proposals({ afterId, size: LOOKED_AT_MAX, waits }),
          administration.operators(),
        ]);
        const now = rows.map((proposal) => unlessOrphaned(proposal, operators));
        const found = now.filter((proposal) => isListed(proposal, filters, key));
        const shown = found.slice(0, size);
        const last = found.length > size ? shown.at(-1) : rows.length === LOOKED_AT_MAX ? rows.at(-1) : undefined;
        const names = namesOf(operators);
        return done({
          proposals: shown.map((proposal) => toProposal(proposal, names)),
          next_page_token: formatIdToken(list, last?.id),
        });
      },
    }),
    getProposal: unary("getProposal", {
      ...fieldsOf({ ...OPERATORS_KINDS, compare: parsed<boolean> })("proposal_id", "compare"),
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

function isListed(proposal: OperatorProposal, filters: ProposalFilters, by: Operator | undefined): boolean {
  const { includesClosed, isForCaller, organizationId, subjectId } = filters;
  if (!includesClosed && proposal.state !== "PENDING") return false;
  if (organizationId !== undefined && proposal.organizationId !== organizationId) return false;
  if (subjectId !== undefined && !isAbout(proposal, subjectId)) return false;
  return !isForCaller || isFor(proposal, by);
}

/** A content names its account, deposit or operator. The subject of a resolution is the order. */
function isAbout({ subject, content }: OperatorProposal, id: string): boolean {
  return subject === id || (content !== "" && Object.values(JSON.parse(content) as object).includes(id));
}

function decisionRpc(options: HandlersOptions, decide: "approve" | "reject"): OperatorRoute {
  const { administration } = options;
  return unary(`${decide}Proposal`, {
    ...fieldsOf({ ...OPERATORS_KINDS, note: parseStatusReason })("proposal_id", "note"),
    run: async ({ proposalId, note }, caller) => {
      const { key: by } = caller;
      // The machine needs no second person, and is none.
      if (by === undefined) return NEEDS_PERSON;
      const found = await administration.bookProposal(proposalId);
      const inBook = decide === "approve" ? approve : reject;
      const decided =
        found === undefined
          ? await administration[decide](proposalId, by)
          : await inBook(options, { found, by, note, caller });
      if (decided.kind === "refused") return decided;
      // Read again: the command may have left it as it was.
      const response = { proposal: await proposalNow(options, proposalId) };
      return { kind: "done", response, replayed: "replayed" in decided && decided.replayed };
    },
  });
}

interface BookDecision {
  readonly found: BookProposal;
  readonly by: Operator;
  readonly note: typeof NO_REASON;
  readonly caller: OperatorCaller;
}

/** The approval is the same command of another person: the ledger compares both. */
async function approve(options: HandlersOptions, { found, by, note, caller }: BookDecision): Promise<Outcome<unknown>> {
  const { administration } = options;
  const { organization, proposal } = found;
  const person = by.id as string as Decider;
  const now = toUnixMillis(options.now());
  const closed = refusalToDecide(proposal, { person, now });
  if (closed !== undefined && closed !== "ALREADY_SO") return { kind: "refused", refusal: closed };
  const command = commandOf(proposal, {
    authority: { ...authorityOf(administration, by, organization), approves: proposal.id },
    actor: actorOf(by),
    note,
  });
  const shown = unlessOrphaned(proposalInBook(proposal, now), await administration.operators());
  const isWhole = await options.railChanges.isWhole(organization, proposal);
  if (command === undefined || shown.state === "LAPSED" || !isWhole)
    return { kind: "refused", refusal: { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state: "LAPSED" } };
  return submitAct(options, organization, command, caller);
}

function reject(options: HandlersOptions, { found, by, note, caller }: BookDecision): Promise<Outcome<unknown>> {
  const { organization, proposal } = found;
  const { id: proposalId, subject, organizationId } = proposal;
  const person = by.id as string as Decider;
  const command = {
    name: "rejectProposal",
    proposalId,
    subject,
    organizationId,
    actor: actorOf(by),
    person,
    note,
  } as const;
  const { deadline, trace } = caller;
  return options.cellOf(organization).ledger.submit(command, deadline, { trace, operator: true });
}
