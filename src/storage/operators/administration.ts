import type { Organization } from "../../domain/api-key.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OperatorProposalId, OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Act, ActOf, ActResource } from "../../operators/act.js";
import { type FourEyes, mayPropose, needsSecondPerson } from "../../operators/four-eyes.js";
import { actorOf, type Operator } from "../../operators/operator.js";
import type {
  Administration,
  AnyResource,
  Decided,
  EndpointState,
  OperatorKeys,
  OperatorProposal,
  RailAccountState,
  Submitted,
} from "../../operators/ports.js";
import type { Endpoint } from "../../webhooks/ports/endpoint.js";
import type { Cell, Database } from "../database.js";
import { emptiestOf, keys } from "../keys.js";
import type { Authorship } from "../organizations/authorship.js";
import { CellKeys } from "../organizations/cell-keys.js";
import { changeSuspension } from "../organizations/suspension.js";
import { type StoredRailAccount, storedRailAccounts } from "../rails/rail-accounts.js";
import { StoredWebhookEndpoints } from "../webhooks/endpoints.js";
import { isOfOperators, OperatorActs } from "./operator-acts.js";
import { ownActs } from "./own-acts.js";
import { CellProposals, type ProposalDecision, type StoredProposal } from "./proposals.js";
import { orRefusal, orRefusalToPerson, RefusedActError } from "./refused.js";

interface Done {
  readonly resource: AnyResource;
  readonly isNew: boolean;
}

/** The parts of one cell that acts need. */
interface AdministeredCell {
  readonly cell: Cell;
  readonly keys: CellKeys;
  readonly proposals: CellProposals;
}

type AdministrationReads = Pick<
  Administration,
  "cellCount" | "organizations" | "organization" | "apiKeys" | "operators" | "ownActs" | "operatorActs" | "proposals"
>;

/** Implements the ports `Administration` and `OperatorKeys` on the database. */
export class StoredAdministration implements Administration, OperatorKeys {
  readonly #database: Database;
  readonly #now: () => UnixMillis;
  readonly fourEyes: FourEyes;
  readonly #keys: ReturnType<typeof keys>;
  readonly #rooms: readonly AdministeredCell[];
  readonly #acts: OperatorActs;

  constructor(database: Database, { now, fourEyes }: { readonly now: () => UnixMillis; readonly fourEyes: FourEyes }) {
    this.#database = database;
    this.#now = now;
    this.fourEyes = fourEyes;
    this.#keys = keys(database, now);
    this.#rooms = database.cells.map((cell) => ({
      cell,
      keys: new CellKeys(cell, now),
      proposals: new CellProposals(cell, now),
    }));
    this.#acts = new OperatorActs(database.cells[0], now);
  }

  get cellCount(): number {
    return this.#database.cells.length;
  }

  readonly organizations: AdministrationReads["organizations"] = () => this.#keys.organizations();
  readonly organization: AdministrationReads["organization"] = (id) => this.#keys.organization(id);
  readonly apiKeys: AdministrationReads["apiKeys"] = (id) => this.#keys.apiKeys(id);
  readonly operators: AdministrationReads["operators"] = () => this.#acts.operators();
  readonly operatorActs: AdministrationReads["operatorActs"] = (page) => this.#acts.acts(page);
  readonly operatorWithKey: OperatorKeys["operatorWithKey"] = (sha256) => this.#acts.operatorWithKey(sha256);
  readonly ownActs: AdministrationReads["ownActs"] = ({ id, cell }, page) => ownActs(this.#room(cell).cell, id, page);

  async railAccounts({ id, cell }: Organization): Promise<readonly RailAccountState[]> {
    const accounts = await storedRailAccounts(this.#room(cell).cell);
    return accounts.filter(({ organizationId }) => organizationId === id).map(railAccountStateOf);
  }

  async endpoints({ id, cell }: Organization): Promise<readonly EndpointState[]> {
    const stored = new StoredWebhookEndpoints(this.#room(cell).cell);
    return (await stored.endpoints(id)).map(endpointStateOf);
  }

  async proposals(): Promise<readonly OperatorProposal[]> {
    const [found, operators] = await Promise.all([
      Promise.all(this.#rooms.map(({ proposals }) => proposals.all())),
      this.#acts.operators(),
    ]);
    const byId = new Map(operators.map((operator) => [operator.id, operator]));
    return found
      .flat()
      .map((proposal) => unlessOrphaned(proposal, byId.get(proposal.proposedBy)))
      .sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  newSecret({ cell, isSandbox }: Organization): { readonly secret: string; readonly sha256: string } {
    return this.#room(cell).keys.newSecret({ isSandbox });
  }

  async submit<A extends Act>(act: A, by: Operator | undefined): Promise<Submitted<ActResource<A>>> {
    const orRefused = by === undefined ? orRefusal : orRefusalToPerson;
    const submitted = await orRefused<Submitted<AnyResource>>(
      (async () => {
        if (by !== undefined && (await this.#needsSecondPerson(act))) {
          if (isOfOperators(act)) await this.#acts.refuseImpossible(act);
          const { proposals } = await this.#roomOf(act);
          return { kind: "proposed", proposal: await proposals.propose(act, by.id) };
        }
        return { kind: "done", ...(await this.#perform(act, { actor: by === undefined ? OPERATOR : actorOf(by) })) };
      })(),
    );
    // The kind of the act decides the type of its resource.
    return submitted as Submitted<ActResource<A>>;
  }

  approve(id: OperatorProposalId, by: Operator): Promise<Decided> {
    return this.#decide(id, async (proposal, { proposals }) => {
      if (proposal.proposedBy === by.id) throw new RefusedActError({ reason: "OWN_PROPOSAL", proposalId: id });
      // The book has moved to another cell since, and one transaction never touches two.
      if ((await this.#roomOf(proposal.act)).proposals !== proposals) {
        throw new RefusedActError({ reason: "PROPOSAL_CLOSED", proposalId: id, state: "LAPSED" });
      }
      const decision: ProposalDecision = { decision: "APPROVED", by: by.id };
      await this.#perform(proposal.act, {
        actor: `${proposal.proposedBy},${by.id}` as Actor,
        first: (session) => proposals.decide(session, proposal, decision),
      });
    });
  }

  reject(id: OperatorProposalId, by: Operator): Promise<Decided> {
    return this.#decide(id, (proposal, { proposals }) =>
      proposals.decideAlone(proposal, { decision: "REJECTED", by: by.id }),
    );
  }

  async #decide(
    id: OperatorProposalId,
    work: (proposal: StoredProposal, room: AdministeredCell) => Promise<void>,
  ): Promise<Decided> {
    return orRefusalToPerson<Decided>(
      (async () => {
        for (const room of this.#rooms) {
          const proposal = await room.proposals.find(id);
          if (proposal === undefined) continue;
          const proposer = await this.#acts.operator(proposal.proposedBy);
          const { state } = unlessOrphaned(proposal, proposer);
          if (state !== "PENDING") throw new RefusedActError({ reason: "PROPOSAL_CLOSED", proposalId: id, state });
          await work(proposal, room);
          return { kind: "done", proposal: (await room.proposals.find(id)) ?? proposal };
        }
        throw new RefusedActError({ reason: "PROPOSAL_NOT_FOUND", proposalId: id });
      })(),
    );
  }

  async #needsSecondPerson(act: Act): Promise<boolean> {
    if (act.kind !== "key.create") return needsSecondPerson(this.fourEyes, act, false);
    return needsSecondPerson(this.fourEyes, act, (await this.#known(act.organizationId)).isSandbox);
  }

  /** Returns the cell whose transaction does the act. */
  async #roomOf(act: Act): Promise<AdministeredCell> {
    return this.#room("organizationId" in act ? (await this.#known(act.organizationId)).cell : 0);
  }

  async #perform(act: Act, author: Authorship): Promise<Done> {
    switch (act.kind) {
      case "organization.create":
        return { resource: await this.#createOrganization(act, author), isNew: true };
      case "organization.suspend":
      case "organization.resume":
        return this.#changeSuspension(act, author);
      case "key.create": {
        const { keys: own } = this.#room((await this.#known(act.organizationId)).cell);
        return { resource: await own.createApiKey({ ...act, expiresAt: act.expiresAt }, author), isNew: true };
      }
      case "key.revoke":
        return this.#revokeKey(act, author);
      case "operator.create":
      case "operator.set_roles":
      case "operator.replace_key":
      case "operator.revoke":
        return this.#acts.perform(act, author);
    }
  }

  async #createOrganization(act: ActOf<"organization.create">, author: Authorship): Promise<Organization> {
    const { name, isSandbox, mayRepeatName } = act;
    const refuseKnown = (organizations: readonly Organization[]): void => {
      const named = mayRepeatName ? undefined : organizations.find((each) => each.name === name);
      if (named === undefined) return;
      throw new RefusedActError({ reason: "ORGANIZATION_ALREADY_EXISTS", organizationId: named.id });
    };
    const organizations = await this.organizations();
    refuseKnown(organizations);
    const number = act.cell ?? emptiestOf(this.cellCount, organizations);
    if (number >= this.cellCount) throw new RefusedActError({ reason: "CELL_NOT_FOUND", cells: this.cellCount });
    const { keys: own } = this.#room(number);
    return own.createOrganization(name, isSandbox, {
      actor: author.actor,
      // New organizations take turns, so that of two equal calls one finds the other's.
      first: async (session) => {
        await author.first?.(session);
        if (!mayRepeatName) refuseKnown(await own.organizationsNamed(name, session));
      },
    });
  }

  async #changeSuspension(
    { kind, organizationId, reason }: ActOf<"organization.suspend" | "organization.resume">,
    author: Authorship,
  ): Promise<Done> {
    const isSuspended = kind === "organization.suspend";
    const organization = await this.#known(organizationId);
    const { cell } = this.#room(organization.cell);
    const isNew = await changeSuspension(cell, { organizationId, now: this.#now(), isSuspended, reason, author });
    return { resource: { ...organization, isSuspended }, isNew };
  }

  async #revokeKey({ keyId }: ActOf<"key.revoke">, author: Authorship): Promise<Done> {
    for (const { keys: own } of this.#rooms) {
      const revoked = await own.revokeApiKey(keyId, author);
      if (revoked !== undefined) return { resource: revoked.key, isNew: revoked.isNew };
    }
    throw new RefusedActError({ reason: "API_KEY_NOT_FOUND", keyId });
  }

  async #known(organizationId: OrganizationId): Promise<Organization> {
    const organization = await this.organization(organizationId);
    if (organization !== undefined) return organization;
    throw new RefusedActError({ reason: "ORGANIZATION_NOT_FOUND", organizationId });
  }

  #room(number: number): AdministeredCell {
    const room = this.#rooms[number];
    if (room === undefined) throw new Error(`there is no cell ${String(number)}`);
    return room;
  }
}

/** Leaves the credentials and the settings out. */
export function railAccountStateOf(account: StoredRailAccount): RailAccountState {
  const { id, organizationId, rail, isDefault, payouts, payoutsReason, credentialsExpireAt, updatedAt } = account;
  return { id, organizationId, rail, isDefault, payouts, payoutsReason, credentialsExpireAt, updatedAt };
}

/** Leaves the secrets out. */
function endpointStateOf(endpoint: Endpoint): EndpointState {
  const { id, organizationId, url, status, disabledReason, failures, failingSince, settledSeq } = endpoint;
  return { id, organizationId, url, status, disabledReason, failures, failingSince, settledSeq };
}

/** A proposal lapses when its proposer may no longer propose. */
function unlessOrphaned(
  { id, act, proposedBy, proposedAt, expiresAt, state, decidedBy, decidedAt }: StoredProposal,
  proposer: Operator | undefined,
): OperatorProposal {
  const lapses = state === "PENDING" && !(proposer !== undefined && mayPropose(proposer));
  return { id, act, proposedBy, proposedAt, expiresAt, state: lapses ? "LAPSED" : state, decidedBy, decidedAt };
}
