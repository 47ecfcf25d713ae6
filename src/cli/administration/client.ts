import type { ApiKey, Organization } from "../../domain/api-key.js";
import type { OperatorProposalId, OrganizationId } from "../../domain/values/ids.js";
import type { Act, ActOf, ActResource } from "../../operators/act.js";
import type { Operator } from "../../operators/operator.js";
import type { OperatorAct, OperatorProposal, OwnAct, Submitted } from "../../operators/ports.js";

/** An act, with the names of the operators who did it. */
export type NamedOrganization<A> = A & { readonly actorNames: readonly string[] };

/** A proposal, with the names of those who proposed and decided it. */
export type NamedProposal = OperatorProposal & { readonly proposerName: string; readonly deciderName: string };

/** What the commands ask for, in the database or at a server. */
export interface AdministrationClient {
  cellCount(): Promise<number>;
  organizations(): Promise<readonly Organization[]>;
  organization(id: OrganizationId): Promise<Organization | undefined>;
  apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
  /** Newest first. */
  ownActs(organization: Organization, limit: number): Promise<readonly NamedOrganization<OwnAct>[]>;
  operators(): Promise<readonly Operator[]>;
  /** Newest first. */
  operatorActs(limit: number): Promise<readonly NamedOrganization<OperatorAct>[]>;
  proposals(): Promise<readonly NamedProposal[]>;
  /** Does an act that makes no secret. */
  submit<A extends Exclude<Act, { readonly kind: "key.create" }>>(act: A): Promise<Submitted<ActResource<A>>>;
  /** Creates a key. The secret works when the act is done, or approved. */
  createKey(
    organization: Organization,
    key: Pick<ActOf<"key.create">, "name" | "scopes" | "expiresAt">,
  ): Promise<{ readonly submitted: Submitted<ApiKey>; readonly secret: string }>;
  /** Throws an OperatorError if the proposal cannot be decided. */
  decide(id: OperatorProposalId, decision: "approve" | "reject"): Promise<NamedProposal>;
  /** Throws an OperatorError on the database, where nobody has a name. */
  whoAmI(): Promise<Operator>;
}
