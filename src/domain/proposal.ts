import type { OrganizationId, ProposalId } from "./values/ids.js";
import type { Sealed } from "./values/sealed.js";
import type { UnixMillis } from "./values/time.js";

/**
 * A person who proposes or decides: the id of an operator, the name of an API key, or "operator"
 * for the machine. Rows from before operators had ids have their names.
 */
export type Decider = string & { readonly brand: unique symbol };

/** What a person has proposed, until another person wants the same, or what was done so. */
export interface Proposal {
  readonly organizationId: OrganizationId;
  /**
   * A transaction's id, the name of a correction of the book, or the id of the proposal itself. No
   * other proposal of any book has the same.
   */
  readonly subject: string;
  readonly id: ProposalId;
  /**
   * What is to be done, in a form in which equal proposals are equal texts. Empty if somebody has
   * changed the row past the service: then nobody can approve it.
   */
  readonly content: string;
  /** Who proposed it first. */
  readonly person: Decider;
  readonly proposedAt: UnixMillis;
  /** Undefined for that of an API key: it stands until it is done, or until another replaces it. */
  readonly expiresAt: UnixMillis | undefined;
  /** Undefined while it waits. Always undefined for a transaction, whose status says it. */
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

/** What a person wants to do about a subject. */
export type Intent = Pick<Proposal, "organizationId" | "subject" | "content" | "person"> & {
  readonly newProposalId: ProposalId;
  /** Whether the person may approve what another one has proposed. */
  readonly mayApprove: boolean;
  /** Whether the proposal lapses: that of an operator does. */
  readonly lapses: boolean;
};

/**
 * Returns whether the intent may be carried out now: one person is enough, or another person has
 * proposed the same.
 */
export function isApproved(
  standing: Proposal | undefined,
  intent: Intent,
  { isOneEnough, now }: { readonly isOneEnough: boolean; readonly now: UnixMillis },
): boolean {
  return isOneEnough || (intent.mayApprove && personsOf(standing, intent, now).length > 1);
}

/** Returns who wants it: this person, and before that another one who has proposed it. */
export function personsOf(standing: Proposal | undefined, intent: Intent, now: UnixMillis): readonly Decider[] {
  const { person } = intent;
  return isSame(standing, intent, now) && !isSamePerson(standing.person, person) ? [standing.person, person] : [person];
}

/** The same name in capitals is the same person. */
function isSamePerson(one: Decider, other: Decider): boolean {
  return one.normalize("NFKC").toLowerCase() === other.normalize("NFKC").toLowerCase();
}

/** Returns the proposal that stands after the intent. An equal one keeps its person and time. */
export function standingAfter(standing: Proposal | undefined, intent: Intent, now: UnixMillis): Proposal {
  return isSame(standing, intent, now) ? standing : newProposal(intent, now);
}

/** Returns the proposal as a person makes it. */
export function newProposal(
  { organizationId, subject, content, person, newProposalId: id, lapses }: Omit<Intent, "mayApprove">,
  now: UnixMillis,
  sealed?: Sealed,
): Proposal {
  const expiresAt = lapses ? ((now + PROPOSAL_OPEN_MILLIS) as UnixMillis) : undefined;
  return { organizationId, subject, id, content, person, proposedAt: now, expiresAt, decided: undefined, sealed };
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

function isSame(standing: Proposal | undefined, { content }: Intent, now: UnixMillis): standing is Proposal {
  return standing?.content === content && stateOfProposal(standing, now) === "PENDING";
}
