import { accountOf } from "../../../../src/domain/account.js";
import type { BookHead, BookState } from "../../../../src/domain/book.js";
import type { TableName } from "../../../../src/domain/decision.js";
import { type JournalEntry, OPERATOR } from "../../../../src/domain/journal.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { NO_REASON } from "../../../../src/domain/values/text.js";
import type { UnixMillis } from "../../../../src/domain/values/time.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  StoreError,
  type TableChanges,
} from "../../../../src/ledger/ports/store.js";
import { NO_SUMS } from "../../property/model.js";
import { type Books, BOOKS_BEGIN, type Connection, type Disk, type Steps, type Stored } from "./disk.js";
import { checkBook, checkEntry, require } from "./memory-constraints.js";
import { keyName, MemoryTable, referenceName, RULES, userName } from "./memory-table.js";

// What the schema says, and what the port promises, in memory. Servers do not wait for each other:
// whoever commits after something that it had read has changed, lost the race.

const TABLE_NAMES = ["accounts", "accountHolders", "transactions", "idempotencyKeys"] as const satisfies TableName[];
const TERMINAL: ReadonlySet<string> = new Set(["transaction.completed", "transaction.canceled"]);

/** What one database transaction has seen and wants to write. None of it is durable. */
interface Open {
  version: number;
  readonly begunAt: UnixMillis | undefined;
  readonly reads: Set<string>;
  changes: Changes | undefined;
}

export class MemoryDisk implements Disk {
  readonly organizations: readonly OrganizationId[];
  readonly racy = true;
  readonly #clock: (() => UnixMillis) | undefined;
  readonly #tables = {
    accounts: new MemoryTable("accounts", RULES.accounts),
    accountHolders: new MemoryTable("accountHolders", RULES.accountHolders),
    transactions: new MemoryTable("transactions", RULES.transactions),
    idempotencyKeys: new MemoryTable("idempotencyKeys", RULES.idempotencyKeys),
  };
  readonly #ended = new Set<TransactionId>();
  readonly #journal: Stored<JournalEntry>[] = [];
  readonly #heads = new Map<OrganizationId, BookHead>();
  #version = 0;
  // By what it names: the version that changed it last.
  readonly #changedIn = new Map<string, number>();

  /** Without a clock the database shares that of its server. */
  constructor(organizations: readonly OrganizationId[], clock?: () => UnixMillis) {
    this.organizations = organizations;
    this.#clock = clock;
    for (const organizationId of organizations) this.#openBook(organizationId);
  }

  open(): Connection {
    return { store: (steps) => this.#store(steps), crash: () => undefined, close: () => undefined };
  }

  books(): Books {
    const { accounts, accountHolders, transactions, idempotencyKeys } = this.#tables;
    return {
      accounts: [...accounts.rows.values()].map((account) => {
        const holder = accountHolders.rows.get(account.id);
        if (holder === undefined) throw new Error(`${account.id} has no holder`);
        return { ...accountOf(account, holder), seq: account.seq };
      }),
      transactions: [...transactions.rows.values()],
      journal: this.#journal,
      heads: this.#heads,
      idempotencyKeys: [...idempotencyKeys.rows.values()],
    };
  }

  journalAfter(wanted: OrganizationId, after: number): readonly Stored<JournalEntry>[] {
    return this.#journal.filter(({ organizationId, seq }) => organizationId === wanted && seq > after);
  }

  setState(organizationId: OrganizationId, state: BookState): boolean {
    this.#version += 1;
    this.#setHead({ ...this.#headOf(organizationId), state });
    return true;
  }

  setSuspended(organizationId: OrganizationId, isSuspended: boolean): boolean {
    this.#version += 1;
    this.#setHead({ ...this.#headOf(organizationId), isSuspended });
    return true;
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  dispose(): void {
    // Nothing is left behind.
  }

  /** Begins a book as storage/organizations/new-organization.ts does. */
  #openBook(organizationId: OrganizationId): void {
    const [kind, recordedAt] = ["organization.created", BOOKS_BEGIN] as const;
    const nothing = { accountId: undefined, transactionId: undefined, posting: undefined, balancesAfter: undefined };
    const entry: JournalEntry = { organizationId, kind, actor: OPERATOR, reason: NO_REASON, recordedAt, ...nothing };
    this.#journal.push(Object.freeze({ ...entry, seq: 1 }));
    this.#setHead({
      organizationId,
      state: "OPEN",
      isSuspended: false,
      lastSeq: 1,
      lastRecordedAt: recordedAt,
      sums: NO_SUMS,
    });
  }

  #store(steps: Steps): LedgerStore {
    return {
      transact: async (work) => {
        const open: Open = { version: 0, begunAt: this.#clock?.(), reads: new Set(), changes: undefined };
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

  #load(lookup: BatchLookup, { reads, begunAt }: Open): Loaded {
    const { accounts, accountHolders, transactions, idempotencyKeys } = this.#tables;
    const used = idempotencyKeys.read(lookup.idempotencyKeys.map(keyName), reads);
    const keyed = used.map(({ resourceId }) => resourceId);
    const keysOfAccounts = new Set(lookup.idempotencyKeysOfAccounts.map(keyName));
    const keyedAccounts = used.filter((each) => keysOfAccounts.has(keyName(each))).map(({ resourceId }) => resourceId);
    const named = lookup.references.flatMap((each) => transactions.find(referenceName(each), reads));
    const users = lookup.users.flatMap((each) => accountHolders.find(userName(each), reads));
    const ofTransactions = lookup.transactionIds.flatMap((id) => transactions.rows.get(id)?.accountId ?? []);
    const own = <Row extends { readonly organizationId: OrganizationId }>(rows: readonly Row[]): readonly Row[] =>
      rows.filter(({ organizationId }) => lookup.organizationIds.includes(organizationId));
    return {
      books: lookup.organizationIds.map((id) => {
        reads.add(bookName(id));
        return this.#headOf(id);
      }),
      begunAt,
      accounts: own(accounts.read([...lookup.accountIds, ...ofTransactions, ...keyed, ...users], reads)),
      accountHolders: own(accountHolders.read([...lookup.holderIds, ...keyedAccounts, ...users], reads)),
      transactions: own(transactions.read([...lookup.transactionIds, ...keyed, ...named], reads)),
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
  #check({ entries, tables, books }: Changes): void {
    for (const name of TABLE_NAMES) this.#tables[name].check(tables[name] as TableChanges<never>);
    const ended = new Set<TransactionId>();
    for (const { entry, seq } of entries) {
      checkEntry(entry);
      require(this.journalAfter(entry.organizationId, seq - 1)[0]?.seq !== seq, "PRIMARY KEY journal");
      if (entry.transactionId === undefined || !TERMINAL.has(entry.kind)) continue;
      require(!ended.has(entry.transactionId) && !this.#ended.has(entry.transactionId), "UNIQUE journal_terminal_rows");
      ended.add(entry.transactionId);
    }
    for (const head of books) checkBook(head);
  }

  #commit({ entries, tables, books }: Changes): void {
    this.#version += 1;
    for (const name of TABLE_NAMES) {
      const touched = this.#tables[name].commit(tables[name] as TableChanges<never>);
      for (const each of touched) this.#changedIn.set(each, this.#version);
    }
    for (const { entry, seq } of entries) {
      this.#journal.push(Object.freeze({ ...entry, seq }));
      if (entry.transactionId !== undefined && TERMINAL.has(entry.kind)) this.#ended.add(entry.transactionId);
    }
    // Like the UPDATE of `books`, it does not set the state.
    for (const { organizationId, lastSeq, lastRecordedAt, sums } of books) {
      this.#setHead({ ...this.#headOf(organizationId), lastSeq, lastRecordedAt, sums });
    }
  }

  #headOf(organizationId: OrganizationId): BookHead {
    const head = this.#heads.get(organizationId);
    if (head === undefined) throw new Error(`the disk has no book of ${organizationId}`);
    return head;
  }

  #setHead(head: BookHead): void {
    this.#heads.set(head.organizationId, Object.freeze(head));
    this.#changedIn.set(bookName(head.organizationId), this.#version);
  }
}

function bookName(organizationId: OrganizationId): string {
  return `book ${organizationId}`;
}
