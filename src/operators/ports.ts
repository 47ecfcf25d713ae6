import type { ApiKey, FoundOrganization, Organization } from "../domain/api-key.js";
import type { Operator, PasskeyId, PersonChange } from "../domain/operator.js";
import type { PersonCommand, ResourceOfPerson } from "../domain/people/operations.js";
import type { Proposal } from "../domain/proposal.js";
import type { RailAccountRecord } from "../domain/rail-account.js";
import type { ApiKeyId, OperatorId, OrganizationId, ProposalId } from "../domain/values/ids.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import type { FourEyes } from "./four-eyes.js";

/** A proposal, and the organization in whose book it lies. One about an operator has none. */
export interface PlacedProposal {
  readonly organization: FoundOrganization | undefined;
  readonly proposal: Proposal;
}

/** One change of the operators themselves. */
export interface OperatorAct extends Pick<PersonChange, "kind" | "operatorId" | "actor" | "recordedAt"> {
  readonly seq: number;
  /** Undefined for an act without a passkey. */
  readonly passkeyId: PasskeyId | undefined;
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
  /**
   * A page of the proposals of operators and of API keys: the newest first, but see `waits`. One
   * that can no longer be approved is decided as LAPSED.
   */
  proposals(page: ProposalsPage): Promise<readonly Proposal[]>;
  proposal(id: ProposalId): Promise<Proposal | undefined>;
  /** Finds a proposal in whatever book it lies, or about an operator. */
  foundProposal(id: ProposalId): Promise<PlacedProposal | undefined>;
  organizationOfKey(id: ApiKeyId): Promise<FoundOrganization | undefined>;
  /** Makes the secret of a key that does not exist yet. */
  newSecret(organization: Organization): NewSecret;
  /**
   * Refuses ORGANIZATION_ALREADY_EXISTS if another has the name. The machine may repeat a name: on
   * the database the id tells both apart.
   */
  createOrganization(organization: AskedOrganization, by: Operator | undefined): Promise<Outcome<Organization>>;
  /** Commits a command about people. */
  submit<C extends PersonCommand>(command: C): Promise<Outcome<ResourceOfPerson<C>>>;
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
