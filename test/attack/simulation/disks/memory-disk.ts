import type { Account } from "../../../../src/domain/account.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import {
  type Changes,
  type LedgerStore,
  type Loaded,
  type Lookup,
  StoreError,
  type SupplyChange,
  type UsedIdempotencyKey,
} from "../../../../src/ledger/ports/store.js";
import type { Supply } from "../../property/model.js";
import type { Books, Connection, Disk, Steps, Stored } from "./disk.js";
import { checkAccount, checkEntry, checkSupply, checkTransaction, require, type Sums } from "./memory-constraints.js";

// What the schema says, and what the port promises, in memory. Servers do not wait for each other:
// whoever commits after something that it had read has changed, lost the race.

const TERMINAL: ReadonlySet<string> = new Set(["transaction.completed", "transaction.canceled"]);

/** What one database transaction has seen and wants to write. None of it is durable. */
interface Open {
  version: number;
  readonly reads: Set<string>;
  changes: Changes | undefined;
}

export class MemoryDisk implements Disk {
  readonly organizations: readonly OrganizationId[];
  readonly racy = true;
  readonly #accounts = new Map<AccountId, Stored<Account>>();
  readonly #accountsByUser = new Map<string, AccountId>();
  readonly #transactions = new Map<TransactionId, Stored<Transaction>>();
  readonly #transactionsByReference = new Map<string, TransactionId>();
  readonly #ended = new Set<TransactionId>();
  readonly #idempotencyKeys = new Map<string, UsedIdempotencyKey>();
  readonly #journal: Stored<JournalEntry>[] = [];
  readonly #supply: Map<OrganizationId, Sums>;
  #lastSeq = 0;
  #version = 0;
  // By what it names: the version that changed it last.
  readonly #changedIn = new Map<string, number>();

  constructor(organizations: readonly OrganizationId[]) {
    this.organizations = organizations;
    this.#supply = new Map(organizations.map((id) => [id, { reserveCents: 0n, availableCents: 0n, heldCents: 0n }]));
  }

  open(): Connection {
    return { store: (steps) => this.#store(steps), crash: () => undefined, close: () => undefined };
  }

  books(): Books {
    const supply = new Map<OrganizationId, Supply>();
    for (const [id, { reserveCents, availableCents, heldCents }] of this.#supply) {
      supply.set(id, { reserve: Number(reserveCents), available: Number(availableCents), held: Number(heldCents) });
    }
    return {
      accounts: [...this.#accounts.values()],
      transactions: [...this.#transactions.values()],
      journal: this.#journal,
      lastSeq: this.#lastSeq,
      supply,
      idempotencyKeys: [...this.#idempotencyKeys.values()],
    };
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  dispose(): void {
    // Nothing is left behind.
  }

  #store(steps: Steps): LedgerStore {
    return {
      transact: async (work) => {
        const open: Open = { version: this.#version, reads: new Set(), changes: undefined };
        const result = await work({
          load: async (lookup) => {
            await steps.before("load");
            open.version = this.#version;
            const loaded = this.#load(lookup, open);
            await steps.before("decide");
            return loaded;
          },
          save: async (changes) => {
            await steps.before("save");
            this.#refuseIfRaced(open);
            this.#check(changes);
            await steps.before("middle of save");
            open.changes = changes;
          },
        });
        await steps.before("commit");
        this.#refuseIfRaced(open);
        if (open.changes !== undefined) this.#commit(open.changes);
        steps.committed();
        await steps.before("answer");
        return result;
      },
    };
  }

  #load(lookup: Lookup, { reads }: Open): Loaded {
    const idempotencyKeys = lookup.idempotencyKeys.flatMap(({ organizationId, key }) => {
      reads.add(`key ${organizationId} ${key}`);
      return this.#idempotencyKeys.get(`${organizationId} ${key}`) ?? [];
    });
    const keyed = idempotencyKeys.map(({ resourceId }) => resourceId);
    const named = lookup.references.flatMap(({ organizationId, reference }) => {
      reads.add(`reference ${organizationId} ${reference}`);
      return this.#transactionsByReference.get(`${organizationId} ${reference}`) ?? [];
    });
    const users = lookup.users.flatMap(({ organizationId, userId }) => {
      reads.add(`user ${organizationId} ${userId}`);
      return this.#accountsByUser.get(`${organizationId} ${userId}`) ?? [];
    });
    const transactionIds = new Set([...lookup.transactionIds, ...keyed, ...named] as TransactionId[]);
    const ofTransactions = lookup.transactionIds.flatMap((id) => this.#transactions.get(id)?.accountId ?? []);
    const accountIds = new Set([...lookup.accountIds, ...ofTransactions, ...keyed, ...users] as AccountId[]);
    const read = <Id extends string, Row>(rows: ReadonlyMap<Id, Row>, ids: ReadonlySet<Id>): Row[] =>
      [...ids].flatMap((id) => {
        reads.add(id);
        return rows.get(id) ?? [];
      });
    return {
      accounts: read(this.#accounts, accountIds),
      transactions: read(this.#transactions, transactionIds),
      idempotencyKeys,
    };
  }

  #refuseIfRaced({ version, reads }: Open): void {
    if (version === this.#version) return;
    for (const read of reads) {
      if ((this.#changedIn.get(read) ?? 0) > version)
        throw new StoreError("conflict", new Error(`${read} has changed`));
    }
  }

  /** The constraints of the schema. */
  #check(changes: Changes): void {
    for (const { row } of changes.createdAccounts) {
      const name = `${row.organizationId} ${row.userId}`;
      require(!this.#accounts.has(row.id) && !this.#accountsByUser.has(name), "UNIQUE accounts");
    }
    for (const { row } of changes.createdTransactions) {
      const name = `${row.organizationId} ${row.reference}`;
      require(!this.#transactions.has(row.id) && !this.#transactionsByReference.has(name), "UNIQUE transactions");
      checkTransaction(row);
    }
    changes.changedTransactions.forEach(checkTransaction);
    for (const row of accountsOf(changes)) checkAccount(row);
    const ended = new Set<TransactionId>();
    for (const entry of changes.entries) {
      checkEntry(entry);
      if (entry.transactionId === undefined || !TERMINAL.has(entry.kind)) continue;
      require(!ended.has(entry.transactionId) && !this.#ended.has(entry.transactionId), "UNIQUE journal_terminal_rows");
      ended.add(entry.transactionId);
    }
    for (const { organizationId, key } of changes.idempotencyKeys) {
      require(!this.#idempotencyKeys.has(`${organizationId} ${key}`), "PRIMARY KEY idempotency_keys");
    }
    for (const change of changes.supplyChanges) checkSupply(this.#supplyAfter(change));
  }

  #commit(changes: Changes): void {
    this.#version += 1;
    const seqOf = (entryIndex: number): number => this.#lastSeq + entryIndex + 1;
    for (const { row, entryIndex } of changes.createdAccounts) {
      this.#putAccount({ ...row, seq: seqOf(entryIndex) });
      this.#accountsByUser.set(`${row.organizationId} ${row.userId}`, row.id);
      this.#changed(`user ${row.organizationId} ${row.userId}`);
    }
    for (const { id, status, statusReason, availableCents, heldCents, updatedAt } of changes.changedAccounts) {
      this.#updateAccount(id, { status, statusReason, availableCents, heldCents, updatedAt });
    }
    for (const { id, availableCents, heldCents, updatedAt } of changes.changedBalances) {
      this.#updateAccount(id, { availableCents, heldCents, updatedAt });
    }
    for (const { row, entryIndex } of changes.createdTransactions) {
      this.#putTransaction({ ...row, seq: seqOf(entryIndex) });
      this.#transactionsByReference.set(`${row.organizationId} ${row.reference}`, row.id);
      this.#changed(`reference ${row.organizationId} ${row.reference}`);
    }
    for (const { id, status, statusReason, updatedAt, completedAt } of changes.changedTransactions) {
      const before = this.#transactions.get(id);
      if (before !== undefined) this.#putTransaction({ ...before, status, statusReason, updatedAt, completedAt });
    }
    changes.entries.forEach((entry, index) => {
      this.#journal.push(Object.freeze({ ...entry, seq: seqOf(index) }));
      if (entry.transactionId !== undefined && TERMINAL.has(entry.kind)) this.#ended.add(entry.transactionId);
    });
    for (const { organizationId, key, resourceId } of changes.idempotencyKeys) {
      this.#idempotencyKeys.set(`${organizationId} ${key}`, { organizationId, key, resourceId });
      this.#changed(`key ${organizationId} ${key}`);
    }
    for (const change of changes.supplyChanges) this.#supply.set(change.organizationId, this.#supplyAfter(change));
    this.#lastSeq += changes.entries.length;
  }

  #updateAccount(id: AccountId, change: Partial<Account>): void {
    const before = this.#accounts.get(id);
    if (before !== undefined) this.#putAccount({ ...before, ...change });
  }

  #putAccount(account: Stored<Account>): void {
    this.#accounts.set(account.id, Object.freeze(account));
    this.#changed(account.id);
  }

  #putTransaction(transaction: Stored<Transaction>): void {
    this.#transactions.set(transaction.id, Object.freeze(transaction));
    this.#changed(transaction.id);
  }

  #changed(name: string): void {
    this.#changedIn.set(name, this.#version);
  }

  #supplyAfter({ organizationId, ...change }: SupplyChange): Sums {
    const before = this.#supply.get(organizationId) ?? { reserveCents: 0n, availableCents: 0n, heldCents: 0n };
    return {
      reserveCents: before.reserveCents + change.reserveCents,
      availableCents: before.availableCents + change.availableCents,
      heldCents: before.heldCents + change.heldCents,
    };
  }
}

function accountsOf({ createdAccounts, changedAccounts, changedBalances }: Changes): Account[] {
  return [...createdAccounts.map(({ row }) => row), ...changedAccounts, ...changedBalances];
}
