import { type Client, Metadata, type MethodDefinition, type ServiceError, status as Status } from "@grpc/grpc-js";

import type { ApiKey, Organization } from "../../domain/api-key.js";
import type { OperatorProposalId, OrganizationId } from "../../domain/values/ids.js";
import { AdminServiceService as Rpcs, type CreateApiKeyResponse } from "../../gen/kesc/admin/v1/admin_service.js";
import type { Proposal } from "../../gen/kesc/admin/v1/resources.js";
import { toTimestamp } from "../../grpc/messages/timestamp.js";
import { toRoles } from "../../grpc/operators/roles.js";
import type { Act, ActOf, ActResource } from "../../operators/act.js";
import type { Operator } from "../../operators/operator.js";
import type { AnyResource, OperatorAct, OwnAct, Submitted } from "../../operators/ports.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { AdministrationClient, NamedOrganization, NamedProposal } from "./client.js";
import { actFrom, keyFrom, operatorActFrom, operatorFrom, organizationFrom, proposalFrom } from "./from-messages.js";

const CALL_MILLIS_MAX = 30_000;
const PAGE_SIZE_MAX = 1_000;
/** With other statuses the server has said what happened. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.CANCELLED]);

type RemoteAct = Exclude<Act, { readonly kind: "key.create" }>;

interface ReadPageFields {
  readonly page_size: number;
  readonly page_token: string;
}

/** Does the acts at a server, as the operator whose key it has. */
export class RemoteClient implements AdministrationClient {
  readonly #channel: Client;
  readonly #address: string;
  readonly #metadata = new Metadata();

  constructor(channel: Client, { address, key }: { readonly address: string; readonly key: string }) {
    this.#channel = channel;
    this.#address = address;
    this.#metadata.set("x-api-key", key);
  }

  async cellCount(): Promise<number> {
    return (await this.#call(Rpcs.whoAmI, {})).cells;
  }

  async whoAmI(): Promise<Operator> {
    return operatorFrom(present((await this.#call(Rpcs.whoAmI, {})).operator));
  }

  organizations(): Promise<readonly Organization[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listOrganizations, { name: "", ...page }),
      ({ organizations }) => organizations.map(organizationFrom),
    );
  }

  async organization(organization_id: OrganizationId): Promise<Organization | undefined> {
    const call = this.#call(Rpcs.getOrganization, { organization_id });
    const found = await call.catch((error: unknown) => {
      if (error instanceof OperatorError && (error.cause as ServiceError).code === Status.NOT_FOUND) return undefined;
      throw error;
    });
    return found?.organization && organizationFrom(found.organization);
  }

  apiKeys(organization_id: OrganizationId): Promise<readonly ApiKey[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listApiKeys, { organization_id, ...page }),
      ({ api_keys: keys }) => keys.map(keyFrom),
    );
  }

  ownActs({ id: organization_id }: Organization, limit: number): Promise<readonly NamedOrganization<OwnAct>[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listActs, { organization_id, ...page }),
      ({ acts }) => acts.map(actFrom),
      limit,
    );
  }

  operators(): Promise<readonly Operator[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listOperators, page),
      ({ operators }) => operators.map(operatorFrom),
    );
  }

  operatorActs(limit: number): Promise<readonly NamedOrganization<OperatorAct>[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listOperatorActs, page),
      ({ acts }) => acts.map(operatorActFrom),
      limit,
    );
  }

  proposals(): Promise<readonly NamedProposal[]> {
    return this.#all(
      (page) => this.#call(Rpcs.listProposals, { include_closed: true, ...page }),
      ({ proposals }) => proposals.map(proposalFrom),
    );
  }

  async submit<A extends RemoteAct>(act: A): Promise<Submitted<ActResource<A>>> {
    // The kind of the act decides the type of its resource.
    return (await this.#submit(act)) as Submitted<ActResource<A>>;
  }

  async createKey(
    { id: organization_id }: Organization,
    { name, scopes, expiresAt }: Pick<ActOf<"key.create">, "name" | "scopes" | "expiresAt">,
  ): Promise<{ readonly submitted: Submitted<ApiKey>; readonly secret: string }> {
    const made: CreateApiKeyResponse = await this.#call(Rpcs.createApiKey, {
      organization_id,
      name,
      scopes: [...scopes],
      expires_at: expiresAt && toTimestamp(expiresAt),
      never_expires: expiresAt === undefined,
    });
    return { submitted: submittedOf(made.api_key && keyFrom(made.api_key), made), secret: made.secret };
  }

  async decide(proposal_id: OperatorProposalId, decision: "approve" | "reject"): Promise<NamedProposal> {
    const rpc = decision === "approve" ? Rpcs.approveProposal : Rpcs.rejectProposal;
    return proposalFrom(present((await this.#call(rpc, { proposal_id })).proposal));
  }

  async #submit(act: RemoteAct): Promise<Submitted<AnyResource>> {
    switch (act.kind) {
      case "organization.create": {
        const { name, isSandbox: sandbox, cell } = act;
        return organizationDone(await this.#call(Rpcs.createOrganization, { name, sandbox, cell }));
      }
      case "organization.suspend": {
        const { organizationId: organization_id, reason: note } = act;
        return organizationDone(await this.#call(Rpcs.suspendOrganization, { organization_id, note }));
      }
      case "organization.resume": {
        const { organizationId: organization_id, reason: note } = act;
        return organizationDone(await this.#call(Rpcs.resumeOrganization, { organization_id, note }));
      }
      case "key.revoke": {
        const revoked = await this.#call(Rpcs.revokeApiKey, { api_key_id: act.keyId });
        return submittedOf(revoked.api_key && keyFrom(revoked.api_key), revoked);
      }
      case "operator.create": {
        const { name, roles, keySha256: key_sha256 } = act;
        return operatorDone(await this.#call(Rpcs.createOperator, { name, roles: toRoles(roles), key_sha256 }));
      }
      case "operator.set_roles": {
        const { operatorId: operator_id, roles } = act;
        return operatorDone(await this.#call(Rpcs.setOperatorRoles, { operator_id, roles: toRoles(roles) }));
      }
      case "operator.replace_key": {
        const { operatorId: operator_id, keySha256: key_sha256 } = act;
        return operatorDone(await this.#call(Rpcs.replaceOperatorKey, { operator_id, key_sha256 }));
      }
      case "operator.revoke":
        return operatorDone(await this.#call(Rpcs.revokeOperator, { operator_id: act.operatorId }));
    }
  }

  /** Reads pages until the end, or until there are `limit` items. */
  async #all<Page extends { readonly next_page_token?: string | undefined }, Item>(
    read: (page: ReadPageFields) => Promise<Page>,
    itemsOf: (page: Page) => readonly Item[],
    limit = Infinity,
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let token = "";
    do {
      const page = await read({ page_size: Math.min(PAGE_SIZE_MAX, limit - items.length), page_token: token });
      items.push(...itemsOf(page));
      token = page.next_page_token ?? "";
    } while (token !== "" && items.length < limit);
    return items;
  }

  /** Throws an OperatorError with the words of the server. Its cause is the error of the call. */
  #call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
    request: Request,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + CALL_MILLIS_MAX };
      this.#channel.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        options,
        (error, response) => {
          if (response !== undefined) resolve(response);
          else reject(new OperatorError(this.#wordsFor(error), 1, { cause: error }));
        },
      );
    });
  }

  #wordsFor(error: ServiceError | null): string {
    if (error === null) return "The server sent no response.";
    const isAnswer = error.metadata.get("grpc-status-details-bin").length > 0;
    if (isAnswer) return error.details;
    const lost = UNKNOWN_OUTCOME.has(error.code) ? " Look whether it was done before you try again." : "";
    return `${Status[error.code]}: the AdminService at ${this.#address} did not answer (${error.details}).${lost}`;
  }
}

interface ReadActResponse {
  readonly unchanged?: boolean;
  readonly proposal?: Proposal | undefined;
}

function organizationDone(
  response: ReadActResponse & { readonly organization: Parameters<typeof organizationFrom>[0] | undefined },
): Submitted<AnyResource> {
  return submittedOf(response.organization && organizationFrom(response.organization), response);
}

function operatorDone(
  response: ReadActResponse & { readonly operator: Parameters<typeof operatorFrom>[0] | undefined },
): Submitted<AnyResource> {
  return submittedOf(response.operator && operatorFrom(response.operator), response);
}

function submittedOf<Resource>(
  resource: Resource | undefined,
  { unchanged: isOld = false, proposal }: ReadActResponse,
): Submitted<Resource> {
  if (proposal !== undefined) return { kind: "proposed", proposal: proposalFrom(proposal) };
  return { kind: "done", resource: present(resource), isNew: !isOld };
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("the server left a part of its response out");
  return value;
}
