import type { Organization } from "../../domain/api-key.js";
import type { Actor } from "../../domain/values/actor.js";
import type { ApiKeyId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type Act, type ActOf, type ActResource, isOfOperators } from "../../operators/act.js";
import type { FourEyes } from "../../operators/four-eyes.js";
import { actorOf, type Operator } from "../../operators/operator.js";
import type {
  Administration,
  AnyResource,
  BookProposal,
  Decided,
  OperatorKeys,
  OperatorProposal,
  ProposalsPage,
  RailAccountState,
  Submitted,
} from "../../operators/ports.js";
import { isConcerned, mayPropose, needsSecondPerson, proposalInBook } from "../../operators/proposed.js";
import type { SignInStore } from "../../operators/sign-in-ports.js";
import type { Cell, Database } from "../database.js";
import { emptiestOf, keys } from "../keys.js";
import type { Authorship } from "../organizations/authorship.js";
import { CellKeys } from "../organizations/cell-keys.js";
import { storedRailAccounts } from "../rails/rail-accounts.js";
import { inTransaction } from "../sql/store-error.js";
import { bookProposals, type FoundProposal } from "./book-proposals.js";
import { OperatorActs } from "./operator-acts.js";
import { CellProposals, type StoredProposal } from "./proposals.js";
import { orRefusal, RefusedActError } from "./refused.js";

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

/** Implements the ports `Administration` and `OperatorKeys` on the database. */
export class StoredAdministration implements Administration, OperatorKeys {
  readonly #database: Database;
  readonly #now: () => UnixMillis;
  readonly fourEyes: FourEyes;
  readonly #keys: ReturnType<typeof keys>;
  readonly #rooms: readonly AdministeredCell[];
  readonly #acts: OperatorActs;
  /** Those about operators. They lie in the first cell. */
  readonly #ofOperators: CellProposals;

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
    this.#ofOperators = new CellProposals(database.cells[0], now);
  }

  get cellCount(): number {
    return this.#database.cells.length;
  }

  readonly organizations: Administration["organizations"] = () => this.#keys.organizations();
  readonly organization: Administration["organization"] = (id) => this.#keys.organization(id);
  readonly apiKeys: Administration["apiKeys"] = (id) => this.#keys.apiKeys(id);
  readonly operators: Administration["operators"] = () => this.#acts.operators();
  readonly operatorActs: Administration["operatorActs"] = (page) => this.#acts.acts(page);
  readonly operator: SignInStore["operator"] = (id) => this.#acts.operator(id);
  readonly operatorWithPasskey: SignInStore["operatorWithPasskey"] = (sha256) => this.#acts.operatorWithPasskey(sha256);
  readonly operatorWithKey: OperatorKeys["operatorWithKey"] = (sha256) => this.#acts.operatorWithKey(sha256);

  async railAccounts({ id, cell }: Organization): Promise<readonly RailAccountState[]> {
    const accounts = await storedRailAccounts(this.#room(cell).cell);
    const own = accounts.filter(({ organizationId }) => organizationId === id);
    // Nobody who reads them here needs the secrets.
    return own.map((account) => ({ ...account, credentials: undefined }));
  }

  async proposals(page: ProposalsPage): Promise<readonly OperatorProposal[]> {
    const organization = page.waits?.organization;
    const rooms = organization === undefined ? this.#rooms : [this.#room(organization.cell)];
    // In other cells than the first one lie those that are older than the proposals in books.
    const ofOperators = page.waits === undefined ? this.#rooms.map(({ proposals }) => proposals) : [this.#ofOperators];
    const shown = await this.#shown(
      Promise.all(ofOperators.map((proposals) => proposals.list(page))),
      Promise.all(rooms.map(({ cell }) => bookProposals(cell, { ...page, now: this.#now() }))),
    );
    return shown.slice(0, page.size);
  }

  async proposal(id: ProposalId): Promise<OperatorProposal | undefined> {
    const find = async ({ proposals }: AdministeredCell): Promise<readonly StoredProposal[]> => {
      const found = await proposals.find(id);
      return found === undefined ? [] : [found];
    };
    const [found] = await this.#shown(
      Promise.all(this.#rooms.map(find)),
      Promise.all(this.#rooms.map(({ cell }) => bookProposals(cell, { id }))),
    );
    return found;
  }

  /** Makes one list of both, oldest first. */
  async #shown(
    ofOperators: Promise<readonly (readonly StoredProposal[])[]>,
    ofBooks: Promise<readonly (readonly FoundProposal[])[]>,
  ): Promise<readonly OperatorProposal[]> {
    const [acts, inBooks, operators] = await Promise.all([ofOperators, ofBooks, this.#acts.operators()]);
    const byId = new Map<string, Operator>(operators.map((operator) => [operator.id, operator]));
    return [
      ...acts.flat().map((proposal) => unlessOrphaned(proposal, byId.get(proposal.proposedBy))),
      ...inBooks.flat().map((found) => shownInBook(found, this.#now())),
    ].sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  async bookProposal(id: ProposalId): Promise<BookProposal | undefined> {
    for (const { cell } of this.#rooms) {
      const [found] = await bookProposals(cell, { id });
      const organization = found && (await this.organization(found.proposal.organizationId));
      if (found !== undefined && organization !== undefined) return { organization, proposal: found.proposal };
    }
    return undefined;
  }

  async organizationOfKey(id: ApiKeyId): Promise<Organization | undefined> {
    for (const { keys: own } of this.#rooms) {
      const organizationId = await own.organizationOfKey(id);
      if (organizationId !== undefined) return this.organization(organizationId);
    }
    return undefined;
  }

  newSecret({ cell, isSandbox }: Organization): { readonly secret: string; readonly sha256: string } {
    return this.#room(cell).keys.newSecret({ isSandbox });
  }

  /** `first` runs in the transaction of the act, or of its proposal. */
  async submit<A extends Act>(
    act: A,
    by: Operator | undefined,
    first?: Authorship["first"],
  ): Promise<Submitted<ActResource<A>>> {
    const submitted = await orRefusal<Submitted<AnyResource>>(async () => {
      if (by !== undefined && needsSecondPerson(this.fourEyes, act)) {
        const shown = await this.#acts.changesBy(act);
        return { kind: "proposed", proposal: await this.#ofOperators.propose({ ...act, shown }, by.id, first) };
      }
      return { kind: "done", ...(await this.#perform(act, { actor: actorOf(by), first })) };
    });
    // The kind of the act decides the type of its resource.
    return submitted as Submitted<ActResource<A>>;
  }

  approve(id: ProposalId, by: Operator): Promise<Decided> {
    return this.#decide(id, async (proposal) => {
      const { act, shown = [], proposedBy } = proposal;
      if (proposedBy === by.id || isConcerned(by, act)) {
        throw new RefusedActError({ reason: "OWN_PROPOSAL", proposalId: id });
      }
      await this.#perform(act, {
        actor: `${proposedBy},${by.id}` as Actor,
        first: async (session) => {
          await this.#ofOperators.decide(session, proposal, { decision: "APPROVED", by: by.id });
          if (isOfOperators(act)) await this.#acts.refuseOutdated(session, { id, act, shown });
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

  async #decide(id: ProposalId, work: (proposal: StoredProposal) => Promise<void>): Promise<Decided> {
    return orRefusal<Decided>(async () => {
      const proposal = await this.#ofOperators.find(id);
      if (proposal === undefined) throw new RefusedActError({ reason: "PROPOSAL_NOT_FOUND", proposalId: id });
      const { state } = unlessOrphaned(proposal, await this.#acts.operator(proposal.proposedBy));
      if (state !== "PENDING") throw new RefusedActError({ reason: "PROPOSAL_CLOSED", proposalId: id, state });
      await work(proposal);
      return { kind: "done", proposal: (await this.#ofOperators.find(id)) ?? proposal };
    });
  }

  #perform(act: Act, author: Authorship): Promise<Done> {
    if (isOfOperators(act)) return this.#acts.perform(act, author);
    return this.#createOrganization(act, author).then((resource) => ({ resource, isNew: true }));
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

  #room(number: number): AdministeredCell {
    const room = this.#rooms[number];
    if (room === undefined) throw new Error(`there is no cell ${String(number)}`);
    return room;
  }
}

/**
 * A proposal lapses when its proposer may no longer propose. One about an organization, and one
 * that does not say what stood, is of an earlier version, and can no longer be done.
 */
function unlessOrphaned(proposal: StoredProposal, proposer: Operator | undefined): StoredProposal {
  const { act, shown } = proposal;
  const isPossible = isOfOperators(act) && shown !== undefined && proposer !== undefined && mayPropose(proposer);
  return proposal.state === "PENDING" && !isPossible ? { ...proposal, state: "LAPSED" } : proposal;
}

function shownInBook({ proposal, isOpen }: FoundProposal, now: UnixMillis): OperatorProposal {
  const shown = proposalInBook(proposal, now);
  return shown.state === "PENDING" && !isOpen ? { ...shown, state: "LAPSED" } : shown;
}
