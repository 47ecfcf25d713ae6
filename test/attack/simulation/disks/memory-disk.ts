import type { Account } from "../../../../src/domain/account.js";
import type { TableName, Tables, UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  StoreError,
  type SupplyChange,
  type TableChanges,
} from "../../../../src/ledger/ports/store.js";
import type { Supply } from "../../property/model.js";
import type { Books, Connection, Disk, Steps, Stored } from "./disk.js";
import { checkAccount, checkEntry, checkSupply, checkTransaction, require, type Sums } from "./memory-constraints.js";

// What the schema says, and what the port promises, in memory. Servers do not wait for each other:
// whoever commits after something that it had read has changed, lost the race.

const TABLE_NAMES = ["accounts", "transactions", "idempotencyKeys"] as const satisfies readonly TableName[];
const TERMINAL: ReadonlySet<string> = new Set(["transaction.completed", "transaction.canceled"]);

/** The memory twin of one table: how its rows are found, and what the schema demands of each. */
interface TableRules<Row> {
  readonly keyOf: (row: Row) => string;
  /** A second unique name, as the reads of a lookup call it. */
  readonly nameOf: (row: Row) => string | undefined;
  readonly check: (row: Row) => void;
}

const RULES: { readonly [Name in TableName]: TableRules<Tables[Name]> } = {
  accounts: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, userId }) => `user ${organizationId} ${userId}`,
    check: checkAccount,
  },
  transactions: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, reference }) => `reference ${organizationId} ${reference}`,
    check: checkTransaction,
  },
  idempotencyKeys: {
    keyOf: ({ organizationId, key }) => `key ${organizationId} ${key}`,
    nameOf: () => undefined,
    check: () => undefined,
  },
};

/** The columns that an UPDATE sets. All others keep their value. */
const CHANGEABLE = {
  accounts: ["status", "statusReason", "availableCents", "heldCents", "updatedAt"],
  transactions: ["status", "statusReason", "updatedAt", "completedAt"],
  idempotencyKeys: [],
} as const satisfies { readonly [Name in TableName]: readonly (keyof Tables[Name])[] };

class MemoryTable<Row extends object> {
  readonly rows = new Map<string, Stored<Row>>();
  readonly keysByName = new Map<string, string>();
  readonly rules: TableRules<Row>;
  readonly changeable: readonly (keyof Row)[];

  constructor(rules: TableRules<Row>, changeable: readonly (keyof Row)[]) {
    this.rules = rules;
    this.changeable = changeable;
  }

  /** The key of the row with that name. */
  find(name: string): readonly string[] {
    const key = this.keysByName.get(name);
    return key === undefined ? [] : [key];
  }

  check({ created, changed }: TableChanges<Row>, table: string): void {
    for (const { row } of created) {
      const name = this.rules.nameOf(row);
      require(!this.rows.has(this.rules.keyOf(row)), `PRIMARY KEY ${table}`);
      require(name === undefined || !this.keysByName.has(name), `UNIQUE ${table}`);
      this.rules.check(row);
    }
    for (const { row } of changed) this.rules.check(row);
  }

  /** Returns the keys and names whose rows a reader would now find changed. */
  commit({ created, changed }: TableChanges<Row>, seqOf: (entryIndex: number) => number): string[] {
    const names: string[] = [];
    for (const { row, entryIndex } of created) {
      const [key, name] = [this.rules.keyOf(row), this.rules.nameOf(row)];
      this.rows.set(key, Object.freeze({ ...row, seq: seqOf(entryIndex) }));
      if (name !== undefined) this.keysByName.set(name, key);
      names.push(key, ...(name === undefined ? [] : [name]));
    }
    for (const { row } of changed) {
      const key = this.rules.keyOf(row);
      const before = this.rows.get(key);
      if (before === undefined) continue;
      const set = Object.fromEntries(this.changeable.map((column) => [column, row[column]]));
      this.rows.set(key, Object.freeze({ ...before, ...set }));
      names.push(key);
    }
    return names;
  }
}

/** What one database transaction has seen and wants to write. None of it is durable. */
interface Open {
  version: number;
  readonly reads: Set<string>;
  changes: Changes | undefined;
}

export class MemoryDisk implements Disk {
  readonly organizations: readonly OrganizationId[];
  readonly racy = true;
  readonly #tables = {
    accounts: new MemoryTable<Account>(RULES.accounts, CHANGEABLE.accounts),
    transactions: new MemoryTable<Transaction>(RULES.transactions, CHANGEABLE.transactions),
    idempotencyKeys: new MemoryTable<UsedIdempotencyKey>(RULES.idempotencyKeys, CHANGEABLE.idempotencyKeys),
  };
  readonly #ended = new Set<TransactionId>();
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
      accounts: [...this.#tables.accounts.rows.values()],
      transactions: [...this.#tables.transactions.rows.values()],
      journal: this.#journal,
      lastSeq: this.#lastSeq,
      supply,
      idempotencyKeys: [...this.#tables.idempotencyKeys.rows.values()],
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

  #load(lookup: BatchLookup, { reads }: Open): Loaded {
    const { accounts, transactions, idempotencyKeys } = this.#tables;
    const read = <Row extends object>({ rows }: MemoryTable<Row>, keys: Iterable<string>): Stored<Row>[] =>
      [...new Set(keys)].flatMap((key) => {
        reads.add(key);
        return rows.get(key) ?? [];
      });
    const find = (table: MemoryTable<Account> | MemoryTable<Transaction>, name: string): readonly string[] => {
      reads.add(name);
      return table.find(name);
    };
    const used = read(
      idempotencyKeys,
      lookup.idempotencyKeys.map(({ organizationId, key }) => `key ${organizationId} ${key}`),
    );
    const keyed = used.map(({ resourceId }) => resourceId);
    const named = lookup.references.flatMap(({ organizationId, reference }) =>
      find(transactions, `reference ${organizationId} ${reference}`),
    );
    const users = lookup.users.flatMap(({ organizationId, userId }) =>
      find(accounts, `user ${organizationId} ${userId}`),
    );
    const ofTransactions = lookup.transactionIds.flatMap((id) => transactions.rows.get(id)?.accountId ?? []);
    return {
      accounts: read(accounts, [...lookup.accountIds, ...ofTransactions, ...keyed, ...users]),
      transactions: read(transactions, [...lookup.transactionIds, ...keyed, ...named]),
      idempotencyKeys: used,
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
    for (const name of TABLE_NAMES) (this.#tables[name] as MemoryTable<object>).check(changes.tables[name], name);
    const ended = new Set<TransactionId>();
    for (const entry of changes.entries) {
      checkEntry(entry);
      if (entry.transactionId === undefined || !TERMINAL.has(entry.kind)) continue;
      require(!ended.has(entry.transactionId) && !this.#ended.has(entry.transactionId), "UNIQUE journal_terminal_rows");
      ended.add(entry.transactionId);
    }
    for (const change of changes.supplyChanges) checkSupply(this.#supplyAfter(change));
  }

  #commit(changes: Changes): void {
    this.#version += 1;
    const seqOf = (entryIndex: number): number => this.#lastSeq + entryIndex + 1;
    for (const name of TABLE_NAMES) {
      const table = this.#tables[name] as MemoryTable<object>;
      for (const changed of table.commit(changes.tables[name], seqOf)) {
        this.#changedIn.set(changed, this.#version);
      }
    }
    changes.entries.forEach((entry, index) => {
      this.#journal.push(Object.freeze({ ...entry, seq: seqOf(index) }));
      if (entry.transactionId !== undefined && TERMINAL.has(entry.kind)) this.#ended.add(entry.transactionId);
    });
    for (const change of changes.supplyChanges) this.#supply.set(change.organizationId, this.#supplyAfter(change));
    this.#lastSeq += changes.entries.length;
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
