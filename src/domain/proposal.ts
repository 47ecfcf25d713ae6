import type { OrganizationId, ProposalId } from "./values/ids.js";
import { looksLike } from "./values/names-of-persons.js";
import type { Sealed } from "./values/sealed.js";
import type { UnixMillis } from "./values/time.js";

/**
 * A person who proposes or decides: the id of an operator, the name of an API key, or "operator"
 * for the machine.
 */
export type Decider = string & { readonly brand: unique symbol };

/** What a person has proposed, until another person wants the same, or what was done so. */
export interface Proposal {
  readonly organizationId: OrganizationId;
  /** A subject has one proposal at a time. Most proposals are a subject of their own: their id. */
  readonly subject: string;
  readonly id: ProposalId;
  /**
   * What is to be done, in a form in which equal proposals are equal texts. Empty if somebody has
   * changed the row past the service: then nobody can approve it.
   */
  readonly content: string;
  /** The journal row that changed it last. While it waits, the row that proposes it. */
  readonly seq: number;
  /** Who proposed it first. */
  readonly person: Decider;
  readonly proposedAt: UnixMillis;
  /** Undefined for that of an API key: it stands until it is done, or until another replaces it. */
  readonly expiresAt: UnixMillis | undefined;
  /** Undefined while it waits, or after its transaction has ended in another way. */
  readonly decided: ProposalDecision | undefined;
  /** A secret that the act needs. Gone once the proposal is decided. */
  readonly sealed: Sealed | undefined;
}

export interface ProposalDecision {
  /** LAPSED: nobody decided in time. */
  readonly as: "APPROVED" | "REJECTED" | "LAPSED";
  /** Undefined if it lapsed. */
  readonly by: Decider | undefined;
  readonly at: UnixMillis;
}

/** A proposal of an operator can be decided for three days. */
export const PROPOSAL_OPEN_MILLIS = 3 * 86_400_000;
/** The maximum number of proposals of one operator that wait in one book. */
export const PROPOSALS_WAITING_MAX = 20;

/** Returns the state of a proposal at this moment. */
export function stateOfProposal(
  { decided, expiresAt }: Pick<Proposal, "decided" | "expiresAt">,
  now: UnixMillis,
): "PENDING" | ProposalDecision["as"] {
  if (decided !== undefined) return decided.as;
  return expiresAt === undefined || expiresAt > now ? "PENDING" : "LAPSED";
}

/** Returns the proposal as it is at this moment: one whose time is over has lapsed. */
export function proposalAt(proposal: Proposal, now: UnixMillis): Proposal {
  return stateOfProposal(proposal, now) === "LAPSED" ? lapsedProposal(proposal) : proposal;
}

export function lapsedProposal(proposal: Proposal): Proposal {
  return decidedProposal(proposal, "LAPSED", { by: undefined, at: proposal.proposedAt });
}

/** What a person proposes. */
type Intent = Pick<Proposal, "organizationId" | "subject" | "content" | "person"> & {
  readonly newProposalId: ProposalId;
  /** That of an API key does not. */
  readonly lapses?: boolean;
};

/** Names that a reader can take for each other are of one person. */
export function isSamePerson(one: Decider, other: Decider): boolean {
  return looksLike(one, other);
}

/** A person, in the spelling that all spellings of the name share. */
export type AlonePerson = string & { readonly brand: unique symbol };

export function alonePersonOf(person: Decider): AlonePerson {
  return person.normalize("NFKC").toLowerCase() as AlonePerson;
}

/** Returns the proposal as a person makes it. It can be decided for some time, by the clock. */
export function newProposal(
  { organizationId, subject, content, person, newProposalId: id, lapses = true }: Intent,
  { now, clock }: { readonly now: UnixMillis; readonly clock: UnixMillis },
  sealed?: Sealed,
): Proposal {
  // The schema refuses an end before the row's own time.
  const expiresAt = lapses ? (Math.max(clock + PROPOSAL_OPEN_MILLIS, now + 1) as UnixMillis) : undefined;
  const waiting = { proposedAt: now, expiresAt, decided: undefined, sealed };
  // The ledger gives it the number of its row.
  return { organizationId, subject, id, content, seq: 0, person, ...waiting };
}

/** Returns the proposal after its decision. Its secret is gone. */
export function decidedProposal(
  proposal: Proposal,
  as: ProposalDecision["as"],
  { by, at }: Pick<ProposalDecision, "by" | "at">,
): Proposal {
  return { ...proposal, decided: { as, by, at }, sealed: undefined };
}

/** The detail of the journal row that proposes or does it. */
export function detailOf({ subject, person, content }: Pick<Intent, "subject" | "person" | "content">): string {
  return JSON.stringify([subject, person, content]);
}

/** Returns the act in a detail that `detailOf` made. */
export function actIn(detail: string): Readonly<Record<string, unknown>> {
  const [, , content] = JSON.parse(detail) as readonly [subject: string, person: string, content: string];
  return JSON.parse(content) as Readonly<Record<string, unknown>>;
}
