import { type FoundOrganization, isWhole, type Organization } from "../../domain/api-key.js";
import type { Actor } from "../../domain/values/actor.js";
import type { ApiKeyId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type Act, hasBeenAdmin, isConcerned, needsSecondPerson } from "../../operators/act.js";
import type { FourEyes } from "../../operators/four-eyes.js";
import { actorOf, type Operator } from "../../operators/operator.js";
import {
  type Administration,
  type AskedOrganization,
  type BookProposal,
  type Decided,
  type NewSecret,
  type OperatorProposal,
  proposalInBook,
  type ProposalsPage,
  type RailAccountState,
  type Submitted,
} from "../../operators/ports.js";
import { type Cell, cellOf, type Database } from "../database.js";
import { emptiestOf, keys } from "../keys.js";
import type { Authorship } from "../organizations/authorship.js";
import { CellKeys } from "../organizations/cell-keys.js";
import { storedRailAccounts } from "../rails/rail-accounts.js";
import { inTransaction } from "../sql/store-error.js";
import { bookProposals, type FoundProposal } from "./book-proposals.js";
import { OperatorActs } from "./operator-acts.js";
import { OperatorProposals, refuseClosed, type StoredProposal } from "./proposals.js";
import { orRefusal, RefusedActError } from "./refused.js";

/** The parts of one cell that acts need. */
interface AdministeredCell {
  readonly cell: Cell;
  readonly keys: CellKeys;
}

/** Implements the port `Administration` on the database. */
export class StoredAdministration implements Administration {
  readonly #database: Database;
  readonly #now: () => UnixMillis;
  readonly fourEyes: FourEyes;
  readonly #keys: ReturnType<typeof keys>;
  readonly #cells: readonly AdministeredCell[];
  readonly #acts: OperatorActs;
  /** The proposals about operators. They lie in the first cell. */
  readonly #ofOperators: OperatorProposals;

  constructor(database: Database, { now, fourEyes }: { readonly now: () => UnixMillis; readonly fourEyes: FourEyes }) {
    this.#database = database;
    this.#now = now;
    this.fourEyes = fourEyes;
    this.#keys = keys(database, now);
    this.#cells = database.cells.map((cell) => ({ cell, keys: new CellKeys(cell, now) }));
    this.#acts = new OperatorActs(database.cells[0], now);
    this.#ofOperators = new OperatorProposals(database.cells[0], now);
  }

  get cellCount(): number {
    return this.#database.cells.length;
  }

  readonly organizations: Administration["organizations"] = () => this.#keys.organizations();
  readonly organization: Administration["organization"] = (id) => this.#keys.organization(id);
  readonly apiKeys: Administration["apiKeys"] = (id) => this.#keys.apiKeys(id);
  readonly operators: Administration["operators"] = () => this.#acts.operators();
  readonly operatorActs: Administration["operatorActs"] = (page) => this.#acts.acts(page);
  readonly operator: Administration["operator"] = (id) => this.#acts.operator(id);
  readonly operatorWithKey: Administration["operatorWithKey"] = (sha256) => this.#acts.operatorWithKey(sha256);
  readonly operatorWithPasskey: Administration["operatorWithPasskey"] = (sha256) =>
    this.#acts.operatorWithPasskey(sha256);

  async railAccounts(organization: Organization): Promise<readonly RailAccountState[]> {
    const accounts = await storedRailAccounts(cellOf(this.#database, organization));
    const own = accounts.filter(({ organizationId }) => organizationId === organization.id);
    // Nobody who reads them here needs the secrets.
    return own.map((account) => ({ ...account, credentials: undefined }));
  }

  async proposals(page: ProposalsPage): Promise<readonly OperatorProposal[]> {
    return (await this.#proposals(page)).slice(0, page.size);
  }

  async proposal(id: ProposalId): Promise<OperatorProposal | undefined> {
    return (await this.#proposals({ id }))[0];
  }

  /** Makes one list of those about operators and of those in books, in the order of the page. */
  async #proposals(filter: { readonly id: ProposalId } | ProposalsPage): Promise<readonly OperatorProposal[]> {
    const waits = "id" in filter ? undefined : filter.waits;
    const now = this.#now();
    const upwards = waits === undefined ? -1 : 1;
    const asked =
      waits?.organization === undefined ? this.#cells : [cellOf({ cells: this.#cells }, waits.organization)];
    const [acts, inBooks, operators] = await Promise.all([
      this.#ofOperators.list(filter),
      Promise.all(asked.map(({ cell }) => bookProposals(cell, { ...filter, now }))),
      this.#acts.operators(),
    ]);
    const byId = new Map<string, Operator>(operators.map((operator) => [operator.id, operator]));
    return [
      ...acts.map((proposal) => lapsedUnlessAdmin(proposal, byId.get(proposal.proposedBy))),
      ...inBooks.flat().map((found) => shownInBook(found, now)),
    ].sort((left, right) => (left.id < right.id ? -upwards : upwards));
  }

  async bookProposal(id: ProposalId): Promise<BookProposal | undefined> {
    for (const { cell } of this.#cells) {
      const [found] = await bookProposals(cell, { id });
      const organization = found && (await this.organization(found.proposal.organizationId));
      if (found !== undefined && organization !== undefined) return { organization, proposal: found.proposal };
    }
    return undefined;
  }

  async organizationOfKey(id: ApiKeyId): Promise<FoundOrganization | undefined> {
    for (const { keys: own } of this.#cells) {
      const organizationId = await own.organizationOfKey(id);
      if (organizationId !== undefined) return this.organization(organizationId);
    }
    return undefined;
  }

  newSecret(organization: Organization): NewSecret {
    return cellOf({ cells: this.#cells }, organization).keys.newSecret(organization);
  }

  /** `first` runs in the transaction of the act, or of its proposal. */
  submit(act: Act, by: Operator | undefined, first?: Authorship["first"]): Promise<Submitted<Operator>> {
    return orRefusal<Submitted<Operator>>(async () => {
      if (by === undefined || !needsSecondPerson(this.fourEyes, act)) {
        return { kind: "done", ...(await this.#acts.perform(act, { actor: actorOf(by), first })) };
      }
      const shown = await this.#acts.changesBy(act);
      return { kind: "proposed", proposal: await this.#ofOperators.propose({ ...act, shown }, by.id, first) };
    });
  }

  changesNow(id: ProposalId): ReturnType<Administration["changesNow"]> {
    return orRefusal(async () => {
      const [proposal] = await this.#ofOperators.list({ id });
      if (proposal === undefined) throw new RefusedActError({ reason: "PROPOSAL_NOT_FOUND", proposalId: id });
      return { kind: "done" as const, changes: await this.#acts.changesBy(proposal.act) };
    });
  }

  approve(id: ProposalId, by: Operator): Promise<Decided> {
    return this.#decide(id, async (proposal) => {
      const { act, proposedBy } = proposal;
      if (proposedBy === by.id || isConcerned(by, act)) {
        throw new RefusedActError({ reason: "OWN_PROPOSAL", proposalId: id });
      }
      await this.#acts.perform(act, {
        actor: `${proposedBy},${by.id}` as Actor,
        first: async (session) => {
          await this.#ofOperators.decide(session, proposal, { decision: "APPROVED", by: by.id });
          await this.#acts.refuseOutdated(session, proposal);
        },
      });
    });
  }

  reject(id: ProposalId, by: Operator): Promise<Decided> {
    return this.#decide(id, (proposal) =>
      inTransaction(this.#database.cells[0], (session) =>
        this.#ofOperators.decide(session, proposal, { decision: "REJECTED", by: by.id }),
      ),
    );
  }

  #decide(id: ProposalId, work: (proposal: StoredProposal) => Promise<void>): Promise<Decided> {
    return orRefusal<Decided>(async () => {
      const [proposal] = await this.#ofOperators.list({ id });
      if (proposal === undefined) throw new RefusedActError({ reason: "PROPOSAL_NOT_FOUND", proposalId: id });
      refuseClosed(lapsedUnlessAdmin(proposal, await this.#acts.operator(proposal.proposedBy)));
      await work(proposal);
      const [decided = proposal] = await this.#ofOperators.list({ id });
      return { kind: "done", proposal: decided };
    });
  }

  createOrganization(
    { name, isSandbox, cell }: AskedOrganization,
    by: Operator | undefined,
  ): Promise<Submitted<Organization>> {
    const refuseKnown = (organizations: readonly FoundOrganization[]): void => {
      const named = by === undefined ? undefined : organizations.filter(isWhole).find((each) => each.name === name);
      if (named === undefined) return;
      throw new RefusedActError({ reason: "ORGANIZATION_ALREADY_EXISTS", organizationId: named.id });
    };
    return orRefusal<Submitted<Organization>>(async () => {
      const organizations = await this.organizations();
      refuseKnown(organizations);
      const chosen = this.#cells[cell ?? emptiestOf(this.cellCount, organizations)];
      if (chosen === undefined) throw new RefusedActError({ reason: "CELL_NOT_FOUND", cells: this.cellCount });
      const resource = await chosen.keys.createOrganization(name, isSandbox, {
        actor: actorOf(by),
        // New organizations take turns, so that of two equal calls one finds the other's.
        first: async (session) => {
          if (by !== undefined) refuseKnown(await chosen.keys.organizationsNamed(name, session));
        },
      });
      return { kind: "done", resource, isNew: true };
    });
  }
}

/** A proposal lapses for ever when its proposer may no longer propose. */
function lapsedUnlessAdmin(proposal: StoredProposal, proposer: Operator | undefined): StoredProposal {
  const isPossible = proposer !== undefined && hasBeenAdmin(proposer, proposal.proposedAt);
  return proposal.state === "PENDING" && !isPossible ? { ...proposal, state: "LAPSED" } : proposal;
}

function shownInBook({ proposal, isOpen }: FoundProposal, now: UnixMillis): OperatorProposal {
  const shown = proposalInBook(proposal, now);
  return shown.state === "PENDING" && !isOpen ? { ...shown, state: "LAPSED" } : shown;
}
