import { type FoundOrganization, isWhole, type Organization } from "../../domain/api-key.js";
import { actorOf, type Operator } from "../../domain/operator.js";
import { lapsedProposal, type Proposal, proposalAt } from "../../domain/proposal.js";
import type { Refusal } from "../../domain/refusal.js";
import type { ApiKeyId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import type { FourEyes } from "../../operators/four-eyes.js";
import {
  type Administration,
  type AskedOrganization,
  type NewSecret,
  type PlacedProposal,
  type ProposalsPage,
  type RailAccountState,
} from "../../operators/ports.js";
import { type Cell, cellOf, type Database } from "../database.js";
import { emptiestOf, keys } from "../keys.js";
import { CellKeys } from "../organizations/cell-keys.js";
import { storedRailAccounts } from "../rails/rail-accounts.js";
import { bookProposals } from "./book-proposals.js";
import { StoredPeople } from "./stored-people.js";

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
  /** They lie in the first cell. */
  readonly people: StoredPeople;

  constructor(database: Database, { now, fourEyes }: { readonly now: () => UnixMillis; readonly fourEyes: FourEyes }) {
    this.#database = database;
    this.#now = now;
    this.fourEyes = fourEyes;
    this.#keys = keys(database, now);
    this.#cells = database.cells.map((cell) => ({ cell, keys: new CellKeys(cell, now) }));
    this.people = new StoredPeople(database.cells[0], now);
  }

  get cellCount(): number {
    return this.#database.cells.length;
  }

  readonly organizations: Administration["organizations"] = () => this.#keys.organizations();
  readonly organization: Administration["organization"] = (id) => this.#keys.organization(id);
  readonly apiKeys: Administration["apiKeys"] = (id) => this.#keys.apiKeys(id);
  readonly operators: Administration["operators"] = () => this.people.operators();
  readonly operatorActs: Administration["operatorActs"] = (page) => this.people.acts(page);
  readonly operator: Administration["operator"] = (id) => this.people.operator(id);
  readonly operatorWithKey: Administration["operatorWithKey"] = (sha256) => this.people.operatorWithKey(sha256);
  readonly operatorWithPasskey: Administration["operatorWithPasskey"] = (sha256) =>
    this.people.operatorWithPasskey(sha256);

  async railAccounts(organization: Organization): Promise<readonly RailAccountState[]> {
    const accounts = await storedRailAccounts(cellOf(this.#database, organization));
    const own = accounts.filter(({ organizationId }) => organizationId === organization.id);
    // Nobody who reads them here needs the secrets.
    return own.map((account) => ({ ...account, credentials: undefined }));
  }

  async proposals(page: ProposalsPage): Promise<readonly Proposal[]> {
    return (await this.#proposals(page)).slice(0, page.size);
  }

  async proposal(id: ProposalId): Promise<Proposal | undefined> {
    return (await this.#proposals({ id }))[0];
  }

  /** Makes one list of those about operators and of those in books, in the order of the page. */
  async #proposals(filter: { readonly id: ProposalId } | ProposalsPage): Promise<readonly Proposal[]> {
    const waits = "id" in filter ? undefined : filter.waits;
    const now = this.#now();
    const upwards = waits === undefined ? -1 : 1;
    const asked =
      waits?.organization === undefined ? this.#cells : [cellOf({ cells: this.#cells }, waits.organization)];
    const [ofPeople, inBooks] = await Promise.all([
      this.people.proposals(filter),
      Promise.all(asked.map(({ cell }) => bookProposals(cell, { ...filter, now }))),
    ]);
    return [
      ...ofPeople.map((proposal) => proposalAt(proposal, now)),
      ...inBooks
        .flat()
        .map(({ proposal, isOpen }) =>
          proposalAt(isOpen || proposal.decided ? proposal : lapsedProposal(proposal), now),
        ),
    ].sort((left, right) => (left.id < right.id ? -upwards : upwards));
  }

  async foundProposal(id: ProposalId): Promise<PlacedProposal | undefined> {
    const [proposal] = await this.people.proposals({ id });
    if (proposal !== undefined) return { organization: undefined, proposal };
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

  readonly submit: Administration["submit"] = (command) => this.people.submit(command);

  async createOrganization(
    { name, isSandbox, cell }: AskedOrganization,
    by: Operator | undefined,
  ): Promise<Outcome<Organization>> {
    const refusalAmong = (organizations: readonly FoundOrganization[]): Refusal | undefined => {
      const named = by && organizations.filter(isWhole).find((each) => each.name === name);
      return named && { reason: "ORGANIZATION_ALREADY_EXISTS", organizationId: named.id };
    };
    const organizations = await this.organizations();
    const known = refusalAmong(organizations);
    if (known !== undefined) return { kind: "refused", refusal: known };
    const chosen = this.#cells[cell ?? emptiestOf(this.cellCount, organizations)];
    if (chosen === undefined) return { kind: "refused", refusal: { reason: "CELL_NOT_FOUND", cells: this.cellCount } };
    const made = await chosen.keys.createOrganization(name, isSandbox, {
      actor: actorOf(by),
      // New organizations take turns, so that of two equal calls one finds the other's.
      refusal: async (session) => refusalAmong(await chosen.keys.organizationsNamed(name, session)),
    });
    return "reason" in made ? { kind: "refused", refusal: made } : { kind: "done", resource: made, replayed: false };
  }
}
