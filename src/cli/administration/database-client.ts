import type { ApiKey, Organization } from "../../domain/api-key.js";
import type { Act, ActOf, ActResource } from "../../operators/act.js";
import type { Operator } from "../../operators/operator.js";
import type { Submitted } from "../../operators/ports.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { StoredAdministration } from "../../storage/operators/administration.js";
import type { AdministrationClient, NamedProposal } from "./client.js";

const WRONG_USAGE = 2;

/** Does the acts in the database. Their author is the operator of the machine. */
export class DatabaseClient implements AdministrationClient {
  readonly #stored: StoredAdministration;
  readonly organizations: AdministrationClient["organizations"];
  readonly organization: AdministrationClient["organization"];
  readonly apiKeys: AdministrationClient["apiKeys"];
  readonly operators: AdministrationClient["operators"];

  constructor(stored: StoredAdministration) {
    this.#stored = stored;
    this.organizations = () => stored.organizations();
    this.organization = (id) => stored.organization(id);
    this.apiKeys = (id) => stored.apiKeys(id);
    this.operators = () => stored.operators();
  }

  cellCount(): Promise<number> {
    return Promise.resolve(this.#stored.cellCount);
  }

  async ownActs(organization: Organization, size: number): ReturnType<AdministrationClient["ownActs"]> {
    return this.#named(await this.#stored.ownActs(organization, { size, beforeSeq: undefined }));
  }

  async operatorActs(size: number): ReturnType<AdministrationClient["operatorActs"]> {
    return this.#named(await this.#stored.operatorActs({ size, beforeSeq: undefined }));
  }

  async proposals(): Promise<readonly NamedProposal[]> {
    const names = await this.#names();
    return (await this.#stored.proposals()).map((proposal) => ({
      ...proposal,
      proposerName: names.get(proposal.proposedBy) ?? "",
      deciderName: names.get(proposal.decidedBy ?? "") ?? "",
    }));
  }

  submit<A extends Act>(act: A): Promise<Submitted<ActResource<A>>> {
    return this.#stored.submit(act, undefined);
  }

  async createKey(
    organization: Organization,
    key: Pick<ActOf<"key.create">, "name" | "scopes" | "expiresAt">,
  ): Promise<{ readonly submitted: Submitted<ApiKey>; readonly secret: string }> {
    const { secret, sha256: secretSha256 } = this.#stored.newSecret(organization);
    const act = { kind: "key.create", organizationId: organization.id, ...key, secretSha256 } as const;
    return { submitted: await this.#stored.submit(act, undefined), secret };
  }

  decide(): Promise<never> {
    return Promise.reject(needsServer("A proposal is decided by a person with a key"));
  }

  whoAmI(): Promise<Operator> {
    return Promise.reject(needsServer("The database does not know who you are"));
  }

  async #named<A extends { readonly actor: string }>(
    acts: readonly A[],
  ): Promise<readonly (A & { readonly actorNames: readonly string[] })[]> {
    const names = await this.#names();
    return acts.map((act) => ({ ...act, actorNames: act.actor.split(",").flatMap((id) => names.get(id) ?? []) }));
  }

  async #names(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#stored.operators()).map(({ id, name }) => [id, name]));
  }
}

function needsServer(why: string): OperatorError {
  return new OperatorError(`${why}. Name the server with --server or KESC_OPERATOR_SERVER.`, WRONG_USAGE);
}
