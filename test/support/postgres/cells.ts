import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { CommandResult } from "../../../src/ledger/ports/committer.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import type { Cell, Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { createAccount } from "../operations/accounts.js";
import { mint } from "../operations/transactions.js";
import { kesc } from "../service/kesc.js";

/** Creates the cells of an empty PostgreSQL database, as an operator does. */
export async function migrateCells(url: string, cells: number): Promise<void> {
  const { code, stdout, stderr } = await kesc(["migrate", "--cells", String(cells)], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stdout + stderr);
}

/** An organization with one account, and mints for it. */
export class Minter {
  readonly organizationId: OrganizationId;
  readonly cellNumber: number;
  readonly #accountId: AccountId;
  #minted = 0;

  private constructor(organizationId: OrganizationId, cellNumber: number, accountId: AccountId) {
    this.organizationId = organizationId;
    this.cellNumber = cellNumber;
    this.#accountId = accountId;
  }

  static async create(database: Database, name: string, cell?: number): Promise<Minter> {
    const organization = await keys(database, clock).createOrganization(name, { cell });
    const command = createAccount(organization.id, "user");
    await commit(cellOf(database, organization.cell), [command]);
    return new Minter(organization.id, organization.cell, command.newAccountId);
  }

  /** The number of mints that were acknowledged. Each is 1.00. */
  get minted(): number {
    return this.#minted;
  }

  /** Commits one batch of mints through this database. */
  async mint(database: Database, count: number): Promise<void> {
    const { organizationId } = this;
    const commands = Array.from({ length: count }, (_, index) =>
      mint({
        organizationId,
        accountId: this.#accountId,
        amount: "1.00",
        reference: `mint-${String(this.#minted)}-${String(index)}-${String(Math.random())}`,
      }),
    );
    await commit(cellOf(database, this.cellNumber), commands);
    this.#minted += count;
  }
}

function cellOf(database: Database, number: number): Cell {
  const cell = database.cells[number];
  if (cell === undefined) throw new Error(`there is no cell ${String(number)}`);
  return cell;
}

async function commit(cell: Cell, commands: Parameters<Cell["committer"]["commit"]>[0]): Promise<void> {
  const committed = (): Promise<readonly CommandResult[]> => cell.committer.commit(commands, clock());
  // As the ledger does. A pooler that keeps no statements refuses the first batch.
  const results = await committed().catch((error: unknown) => {
    if (error instanceof StoreError && error.kind === "conflict") return committed();
    throw error;
  });
  const wrong = results.find(({ kind }) => kind !== "done");
  if (wrong !== undefined) throw new Error(`a command was ${JSON.stringify(wrong)}`);
}

function clock() {
  return toUnixMillis(Date.now());
}
