import type { ApiKey, FoundOrganization, Organization } from "../domain/api-key.js";
import type { Change } from "../domain/change.js";
import { type Proposal, type ProposalDecision, stateOfProposal } from "../domain/proposal.js";
import { nameIn } from "../domain/proposal-content.js";
import type { RailAccountRecord } from "../domain/rail-account.js";
import type { Actor } from "../domain/values/actor.js";
import type { ApiKeyId, OperatorId, OrganizationId, ProposalId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Act } from "./act.js";
import type { FourEyes } from "./four-eyes.js";
import type { Operator, PasskeyId } from "./operator.js";
import type { OperatorRefusal } from "./refusal.js";

/** What waits, or has waited, for a second person. */
export interface OperatorProposal {
  readonly id: ProposalId;
  /** The name of the act: that of a command of the ledger, or the kind of an `Act`. */
  readonly type: string;
  /** The whole act as JSON, without secrets. */
  readonly content: string;
  /** Undefined for an act that no book holds. */
  readonly organizationId: OrganizationId | undefined;
  /** The id of an operator. Only a resolution may have the name of an API key here. */
  readonly proposedBy: string;
  readonly proposedAt: UnixMillis;
  /** Undefined for that of an API key, which does not lapse. */
  readonly expiresAt: UnixMillis | undefined;
  /** LAPSED: it has expired, or its proposer may no longer propose. */
  readonly state: "PENDING" | ProposalDecision["as"];
  /** Undefined unless it was approved or rejected. */
  readonly decidedBy: string | undefined;
  readonly decidedAt: UnixMillis | undefined;
}

/** A proposal that lies in the book of an organization. */
export interface BookProposal {
  readonly organization: FoundOrganization;
  readonly proposal: Proposal;
}

/** Returns a proposal that lies in a book, as operators see it. */
export function proposalInBook(proposal: Proposal, now: UnixMillis): OperatorProposal {
  const { id, content, organizationId, person: proposedBy, proposedAt, expiresAt, decided } = proposal;
  const said = { id, type: nameIn(content), content, organizationId, proposedBy, proposedAt, expiresAt };
  return { ...said, state: stateOfProposal(proposal, now), decidedBy: decided?.by, decidedAt: decided?.at };
}

/** What came of an act. */
export type Submitted<Resource> =
  | {
      readonly kind: "done";
      readonly resource: Resource;
      /** False if it was so already. Then nothing was written. */
      readonly isNew: boolean;
    }
  | { readonly kind: "proposed"; readonly proposal: OperatorProposal }
  | RefusedAct;

export interface RefusedAct {
  readonly kind: "refused";
  readonly refusal: OperatorRefusal;
}

/** What came of a decision. */
export type Decided = { readonly kind: "done"; readonly proposal: OperatorProposal } | RefusedAct;

/** One change of the operators themselves. */
export interface OperatorAct {
  readonly seq: number;
  readonly kind:
    | "operator.created"
    | "operator.roles_changed"
    | "operator.key_replaced"
    | "operator.passkey_added"
    | "operator.passkey_removed"
    | "operator.revoked";
  readonly operatorId: OperatorId;
  /** Undefined for an act without a passkey. */
  readonly passkeyId: PasskeyId | undefined;
  readonly actor: Actor;
  readonly recordedAt: UnixMillis;
}

/** An account of an organization at a rail, without its credentials. */
export type RailAccountState = Omit<RailAccountRecord, "credentials">;

export interface AskedOrganization {
  readonly name: string;
  readonly isSandbox: boolean;
  /** The one with the fewest organizations when omitted. */
  readonly cell?: number | undefined;
}

/** A key that is not created yet. Only its caller ever sees `secret`. */
export interface NewSecret {
  readonly secret: string;
  readonly sha256: string;
}

/**
 * What operators see and do, whoever asks: the AdminService, or the `kesc` command on the database.
 * Every call rejects with a StoreError if the database fails.
 */
export interface Administration {
  /** The number of cells that the database has. */
  readonly cellCount: number;
  /** The acts that need a second person. */
  readonly fourEyes: FourEyes;
  /** Oldest first, like each list without another order. */
  organizations(): Promise<readonly FoundOrganization[]>;
  organization(id: OrganizationId): Promise<FoundOrganization | undefined>;
  apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
  railAccounts(organization: Organization): Promise<readonly RailAccountState[]>;
  operators(): Promise<readonly Operator[]>;
  operator(id: OperatorId): Promise<Operator | undefined>;
  /** Returns the operator who has the key with this SHA-256, revoked or not. */
  operatorWithKey(keySha256: string): Promise<Operator | undefined>;
  /** Returns the operator whose passkey it is now. */
  operatorWithPasskey(passkeySha256: string): Promise<Operator | undefined>;
  /** The changes of the operators, newest first, before the row `beforeSeq` if it is given. */
  operatorActs(page: ActsPage): Promise<readonly OperatorAct[]>;
  /** A page of the proposals of operators and of API keys: the newest first, but see `waits`. */
  proposals(page: ProposalsPage): Promise<readonly OperatorProposal[]>;
  proposal(id: ProposalId): Promise<OperatorProposal | undefined>;
  /** Finds a proposal that lies in a book. */
  bookProposal(id: ProposalId): Promise<BookProposal | undefined>;
  /** Returns what a proposal that lies in no book would change now, or why it would be refused. */
  changesNow(id: ProposalId): Promise<{ readonly kind: "done"; readonly changes: readonly Change[] } | RefusedAct>;
  organizationOfKey(id: ApiKeyId): Promise<FoundOrganization | undefined>;
  /** Makes the secret of a key that does not exist yet. */
  newSecret(organization: Organization): NewSecret;
  /**
   * Refuses ORGANIZATION_ALREADY_EXISTS if another has the name. The machine may repeat a name: on
   * the database the id tells both apart.
   */
  createOrganization(organization: AskedOrganization, by: Operator | undefined): Promise<Submitted<Organization>>;
  /**
   * Does an act, or proposes it if the policy wants a second person. Without `by` it is the machine
   * that acts: a person with the database needs no second one.
   */
  submit(act: Act, by: Operator | undefined): Promise<Submitted<Operator>>;
  /** Carries out a proposal that lies in no book, exactly as it was proposed. */
  approve(id: ProposalId, by: Operator): Promise<Decided>;
  /** Ends a proposal. Its proposer may, too. */
  reject(id: ProposalId, by: Operator): Promise<Decided>;
}

/** The id of each proposal is less. An id grows with the time at which it was made. */
export const BEYOND_PROPOSALS = "prp_z";

export interface ProposalsPage {
  /** The last proposal of the page before. */
  readonly afterId: ProposalId | undefined;
  readonly size: number;
  /**
   * Only those that nobody has decided, and that have not lapsed: all, or those about the
   * organization and about operators. The oldest one is first: it has waited longest.
   */
  readonly waits: { readonly organization: Organization | undefined } | undefined;
}

export interface ActsPage {
  readonly size: number;
  readonly beforeSeq: number | undefined;
  /** Only what this operator did, and what was done to this operator. Empty for all. */
  readonly operatorId?: string;
  /** Only the changes of this kind. Empty for all. */
  readonly kind?: string;
}
