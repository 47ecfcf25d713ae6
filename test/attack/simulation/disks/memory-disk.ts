import { LRUCache } from "lru-cache";

import { accountOf } from "../../../../src/domain/account.js";
import type { StoredApiKey } from "../../../../src/domain/api-key.js";
import { idIn } from "../../../../src/domain/bank-file.js";
import { type BookHead, type BookState, NO_SUMS } from "../../../../src/domain/book.js";
import { readClosing } from "../../../../src/domain/closing.js";
import {
  type Finder,
  nameIn,
  ofEachTable,
  TABLE_NAMES,
  type TableName,
  type UsedReceipt,
} from "../../../../src/domain/decision.js";
import { readDepositDetail } from "../../../../src/domain/deposit.js";
import type { Destination } from "../../../../src/domain/destination.js";
import type { Freeze } from "../../../../src/domain/freeze.js";
import { isDeciding, type JournalEntry } from "../../../../src/domain/journal.js";
import { isUnderWay, type Payment, type RailAccountId } from "../../../../src/domain/payment.js";
import { readCheck } from "../../../../src/domain/payout-check.js";
import type { ApprovedPayoutFile } from "../../../../src/domain/payout-file.js";
import { type ListedText, payoutListFromText } from "../../../../src/domain/payout-list.js";
import type { Proposal } from "../../../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../../../src/domain/rail-account.js";
import { numberOfOtherSource } from "../../../../src/domain/receipt.js";
import type { ReservePlace } from "../../../../src/domain/reserve.js";
import { isPaidOut, type Transaction } from "../../../../src/domain/transaction.js";
import { OPERATOR } from "../../../../src/domain/values/actor.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { NO_REASON } from "../../../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import type { EndpointRecord } from "../../../../src/domain/webhook-endpoint.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  type LoadedRows,
  type RailAccountsOfCells,
  StoreError,
  type TableChanges,
} from "../../../../src/ledger/ports/store.js";
import { joinEntries, listEntryOf, listHashOf, splitEntries } from "../../../../src/storage/secrets/payout-list.js";
import type { KeptLists, OpenBook } from "../../../../src/storage/sql/book-directory.js";
import { listedIn, type PayoutListRow } from "../../../../src/storage/sql/listed.js";
import { railAccount } from "../../../support/given.js";
import { FINDERS, FOUND } from "../../../support/looked-up.js";
import { type Books, BOOKS_BEGIN, type Connection, type Disk, type Steps, type Stored } from "./disk.js";
import { checkBook, checkEntry, require } from "./memory-constraints.js";
import { MemoryTable } from "./memory-table.js";

// What the schema says, and what the port promises, in memory. Servers do not wait for each other:
// whoever commits after something that it had read has changed, lost the race.

const TERMINAL: ReadonlySet<string> = new Set(["transaction.completed", "transaction.failed", "transaction.canceled"]);

type MemoryTables = { readonly [Name in TableName]: MemoryTable<Name> };

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
  readonly #tables = ofEachTable((name) => new MemoryTable(name)) as MemoryTables;
  readonly #ended = new Set<TransactionId>();
  /** By the name of the book and the receipt. */
  readonly #receipts = new Map<string, UsedReceipt>();
  /** The settings of each account at a rail, by its revisions. */
  readonly #railSettings = new Map<string, string[]>();
  readonly #payoutLists: PayoutListRow[] = [];
  readonly #keptLists: KeptLists = new LRUCache({ max: 10 });
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

  /** The payments, by the ids of their transactions. */
  get payments(): ReadonlyMap<string, Payment> {
    return this.#tables.payments.rows;
  }

  get transactions(): ReadonlyMap<string, Transaction> {
    return this.#tables.transactions.rows;
  }

  /** The approved files of payouts, oldest first. */
  get payoutFiles(): readonly ApprovedPayoutFile[] {
    return [...this.#tables.payoutFiles.rows.values()];
  }

  /** What operators have made, destinations, and webhook endpoints. */
  get acts(): readonly (
    StoredApiKey | Proposal | RailAccountRecord | ReservePlace | ApprovedPayoutFile | Destination | EndpointRecord
  )[] {
    const { apiKeys, proposals, railAccounts, reservePlaces, payoutFiles, destinations, webhookEndpoints } =
      this.#tables;
    const tables = [apiKeys, proposals, railAccounts, reservePlaces, payoutFiles, destinations, webhookEndpoints];
    return tables.flatMap(({ rows }) => [...rows.values()]);
  }

  open(): Connection {
    return { store: (steps) => this.#store(steps), crash: () => undefined, close: () => undefined };
  }

  books(): Books {
    const { accounts, accountHolders, freezes, transactions, deposits, idempotencyKeys } = this.#tables;
    return {
      accounts: [...accounts.rows.values()].map((account) => {
        const holder = accountHolders.rows.get(account.id);
        if (holder === undefined) throw new Error(`${account.id} has no holder`);
        return { ...accountOf(account, holder, this.#standingFreezes(account.id).map(withoutSeq)), seq: account.seq };
      }),
      freezes: [...freezes.rows.values()],
      transactions: [...transactions.rows.values()],
      deposits: [...deposits.rows.values()],
      journal: this.#journal,
      heads: this.#heads,
      idempotencyKeys: [...idempotencyKeys.rows.values()],
    };
  }

  /** Oldest first, because the rows are in the order in which they came. */
  #standingFreezes(id: AccountId): Stored<Freeze>[] {
    return [...this.#tables.freezes.rows.values()].filter(
      ({ accountId, lifted }) => accountId === id && lifted === undefined,
    );
  }

  journalAfter(wanted: OrganizationId, after: number): readonly Stored<JournalEntry>[] {
    return this.#journal.filter(({ organizationId, seq }) => organizationId === wanted && seq > after);
  }

  railRevision(id: RailAccountId): number {
    return this.#tables.railAccounts.rows.get(id)?.revision ?? 0;
  }

  /** The settings that an account at a rail had in a revision. */
  railSettings(id: RailAccountId, revision: number): string | undefined {
    return this.#railSettings.get(id)?.[revision];
  }

  /** The accounts at rails, as the caller of `setRailAccount` reads them. */
  get railAccountsOfCells(): RailAccountsOfCells {
    const rows = [...this.#tables.railAccounts.rows.values()];
    return { count: rows.length, revisions: rows.reduce((sum, { revision }) => sum + revision, 0) };
  }

  /** Changes an account at a rail. As in the database, no batch of the book is under way. */
  changeRail(organizationId: OrganizationId, id: RailAccountId): void {
    this.#version += 1;
    const row = { ...railAccount(organizationId, { id, revision: this.railRevision(id) + 1 }), seq: 0 };
    this.#tables.railAccounts.rows.set(id, row);
    this.#changedIn.set(bookName(organizationId), this.#version);
  }

  /** Stores a list of payouts that are held, as storage/payouts/payout-lists.ts does. */
  storeList(
    organizationId: OrganizationId,
    texts: readonly ListedText[],
  ): { readonly hash: string; readonly replaces: string; readonly ended: number } {
    const book = this.#bookOf(organizationId);
    const entries = new Set(texts.map((text) => listEntryOf(book.keys, text)));
    const joined = joinEntries(entries);
    const list = listHashOf(joined);
    const replaces = this.#headOf(organizationId).payoutList ?? "";
    const former = replaces === "" ? undefined : payoutListFromText(replaces).hash;
    const row = this.#payoutLists.find((each) => each.book === book.number && each.list === former);
    const ended = row === undefined ? [] : [...splitEntries(row.entries)].filter((entry) => !entries.has(entry));
    this.#payoutLists.push({ book: book.number, list, entries: Buffer.from(joined, "hex"), stored_at: BOOKS_BEGIN });
    return { hash: list, replaces, ended: ended.length };
  }

  #bookOf(organizationId: OrganizationId): OpenBook {
    // A look-up into a list needs no more of a book.
    return { number: this.organizations.indexOf(organizationId), keys: { index: organizationId } } as never;
  }

  setState(organizationId: OrganizationId, state: BookState): boolean {
    this.#version += 1;
    this.#setHead({ ...this.#headOf(organizationId), state });
    return true;
  }

  setSuspended(organizationId: OrganizationId, isSuspended: boolean): boolean {
    this.#version += 1;
    this.#setHead({ ...this.#headOf(organizationId), suspendedSeq: isSuspended ? 1 : undefined });
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
    const about = { accountId: undefined, transactionId: undefined, freezeId: undefined };
    const nothing = { ...about, posting: undefined, balancesAfter: undefined };
    const entry: JournalEntry = { organizationId, kind, actor: OPERATOR, reason: NO_REASON, recordedAt, ...nothing };
    this.#journal.push(Object.freeze({ ...entry, seq: 1 }));
    this.#setHead({
      organizationId,
      state: "OPEN",
      suspendedSeq: undefined,
      receiptsRequiredSeq: undefined,
      lastSeq: 1,
      lastRecordedAt: recordedAt,
      sums: NO_SUMS,
      limits: undefined,
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
            const rows = this.#load(lookup, open);
            const loaded: Loaded = { ...rows, listed: await this.#listed(lookup, rows) };
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

  /** The entries of a list never change, so they can be read at any time. */
  #listed(lookup: BatchLookup, rows: Omit<Loaded, "listed">): Promise<Loaded["listed"]> {
    return listedIn(lookup, rows, {
      heads: rows.books,
      facts: { bookOf: (organizationId) => this.#bookOf(organizationId) },
      kept: this.#keptLists,
      changedRows: new Set(),
      read: (lists) =>
        Promise.resolve(
          lists.flatMap(({ book, name }) => {
            return this.#payoutLists.find((row) => row.book === book && row.list === name) ?? [];
          }),
        ),
    });
  }

  #load(lookup: BatchLookup, { reads, begunAt }: Open): Omit<Loaded, "listed"> {
    const { transactions, payments, deposits } = this.#tables;
    const own = <Row extends { readonly organizationId: OrganizationId }>(rows: readonly Row[]): readonly Row[] =>
      rows.filter(({ organizationId }) => lookup.organizationIds.includes(organizationId));
    return {
      changedRows: new Set(),
      books: lookup.organizationIds.map((id) => {
        reads.add(bookName(id));
        return this.#headOf(id);
      }),
      begunAt,
      ...this.#rowsOf(lookup, reads),
      receipts: [
        ...lookup.keysOf("receipt").flatMap(({ organizationId, name: receipt }) => {
          const name = receiptName({ organizationId, receipt });
          reads.add(name);
          return this.#receipts.get(name) ?? [];
        }),
        // As in the database, they are read under the lock of the book.
        ...lookup
          .keysOf("receiptNumber")
          .flatMap(({ organizationId, name }) =>
            [...this.#receipts.values()].filter(
              (used) => used.organizationId === organizationId && numberOfOtherSource(used.receipt) === name,
            ),
          ),
      ],
      movements: lookup.keysOf("movement").flatMap(({ organizationId, name: movement }) => {
        reads.add(movementName({ organizationId, railMovement: movement }));
        const row = [...transactions.rows.values()].find(
          (each) => each.organizationId === organizationId && each.railMovement === movement,
        );
        return row === undefined ? [] : [{ organizationId, movement, transactionId: row.id }];
      }),
      // Each change of a payment is a row of the book.
      paymentsUnderWay: new Map(
        lookup
          .keysOf("paymentsUnderWay")
          .map((id) => [
            id,
            [...payments.rows.values()].filter((row) => row.railAccountId === id && isUnderWay(row)).length,
          ]),
      ),
      // As in the database, it is read under the lock of the book.
      unallocatedDepositCents: new Map(
        lookup.keysOf("unallocatedDeposits").map((id) => {
          const open = own([...deposits.rows.values()]).filter(({ status }) => status === "UNALLOCATED");
          const cents = open.reduce((sum, row) => sum + (row.organizationId === id ? row.amountCents : 0), 0);
          return [id, cents];
        }),
      ),
      railAccountsOfCells: this.railAccountsOfCells,
      // As in the database, they are read under the lock of the book.
      decidingRows: lookup
        .keysOf("decidingRows")
        .slice(0, 1)
        .flatMap(() => this.#journal.filter(isDeciding)),
      reveals: new Map(
        lookup
          .keysOf("reveals")
          .map((actor) => [
            actor,
            this.#journal
              .filter((row) => row.kind === "account.revealed" && row.actor === actor)
              .map(({ recordedAt }) => recordedAt),
          ]),
      ),
      aloneSums: lookup.keysOf("aloneSum").flatMap(({ organizationId, name }) => {
        const newest = this.#journal.findLast(
          (row) => row.organizationId === organizationId && row.alone?.person === name,
        );
        return newest?.alone === undefined ? [] : [{ organizationId, ...newest.alone, at: newest.recordedAt }];
      }),
      paidTo: lookup.keysOf("paidTo").flatMap(({ organizationId, name: paidTo }) => {
        const paid = [...transactions.rows.values()].filter(
          (row) =>
            row.organizationId === organizationId && (row.destinationId ?? row.accountId) === paidTo && isPaidOut(row),
        );
        if (paid.length === 0) return [];
        return [{ organizationId, paidTo, acceptedAt: toUnixMillis(Math.max(...paid.map((row) => row.createdAt))) }];
      }),
      bankFiles: lookup
        .keysOf("bankFile")
        .flatMap(({ organizationId, name }) =>
          this.#journal.filter(
            ({ organizationId: of, kind, detail = "" }) =>
              of === organizationId && kind.startsWith("bank_file.") && idIn(detail) === name,
          ),
        ),
      payoutChecks: lookup.keysOf("payoutCheck").flatMap((organizationId) => {
        const newest = this.#journal.findLast(
          (row) => row.organizationId === organizationId && row.kind.startsWith("payouts.check_"),
        );
        if (newest?.kind !== "payouts.check_set") return [];
        const { seq, recordedAt, detail = "" } = newest;
        return [{ ...readCheck(detail), organizationId, seq, recordedAt }];
      }),
      closedMonths: lookup.keysOf("closedMonth").flatMap(({ organizationId, name }) =>
        this.#journal
          .filter((row) => row.organizationId === organizationId && row.kind === "month.closed")
          .map(({ seq, recordedAt, detail = "" }) => ({ ...readClosing(detail), organizationId, seq, recordedAt }))
          .filter(({ month }) => month === name),
      ),
    };
  }

  /** The rows that the finders find, oldest first. */
  #rowsOf(lookup: BatchLookup, reads: Set<string>): LoadedRows {
    const { idempotencyKeys, transactions } = this.#tables;
    const namesOf = (finder: Finder): readonly string[] =>
      lookup.keysOf(finder).map((key) => (typeof key === "string" ? key : nameIn(key.organizationId, key.name)));
    const idsOf = (finder: Finder): readonly string[] => {
      const { named } = FOUND[finder];
      const names = namesOf(finder);
      if (named === undefined) return names;
      if (named !== "idempotencyKeys") return names.flatMap((name) => this.#tables[named].find(name, reads));
      return idempotencyKeys.read(names, reads).map(({ resourceId }) => resourceId);
    };
    const found = FINDERS.map((finder) => ({ ids: idsOf(finder), ...FOUND[finder] }));
    const others: { readonly [Name in TableName]?: readonly string[] } = {
      idempotencyKeys: namesOf("idempotencyKey"),
      accounts: namesOf("transaction").flatMap((id) => transactions.rows.get(id)?.accountId ?? []),
    };
    return ofEachTable((name) => {
      const keys = found.flatMap(({ ids, rows }) => (rows?.includes(name) === true ? ids : []));
      const groups = found.flatMap(({ ids, groups: of }) => (of?.includes(name) === true ? ids : []));
      const table = this.#tables[name];
      const read = [...table.read([...keys, ...(others[name] ?? [])], reads), ...table.readGroups(new Set(groups))];
      const own = read
        .filter(({ organizationId }) => lookup.organizationIds.includes(organizationId))
        .toSorted((left, right) => left.seq - right.seq);
      // An answer names the freezes of an account.
      return name === "freezes" ? own.map(withoutSeq) : own;
    }) as LoadedRows;
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
    const receipts = new Set<string>();
    for (const { entry, seq } of entries) {
      checkEntry(entry);
      if (entry.receipt !== undefined) require(!this.#hasReceipt(entry, receipts), "UNIQUE journal_receipts");
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
      const { organizationId, receipt, transactionId, kind, detail } = entry;
      if (transactionId !== undefined && TERMINAL.has(entry.kind)) this.#ended.add(transactionId);
      if (receipt === undefined) continue;
      const name = receiptName({ organizationId, receipt });
      const depositId = kind.startsWith("deposit.") ? readDepositDetail(detail ?? "").id : undefined;
      this.#receipts.set(name, { organizationId, receipt, transactionId, depositId });
      this.#changedIn.set(name, this.#version);
    }
    for (const { row } of [...tables.railAccounts.created, ...tables.railAccounts.changed]) {
      const settings = [...(this.#railSettings.get(row.id) ?? [])];
      settings[row.revision] = row.settings;
      this.#railSettings.set(row.id, settings);
    }
    for (const { row } of [...tables.transactions.created, ...tables.transactions.changed]) {
      if (row.railMovement !== undefined) this.#changedIn.set(movementName(row), this.#version);
    }
    // Like the UPDATE of `books`, it does not set the state.
    for (const head of books) {
      this.#setHead({ ...head, state: this.#headOf(head.organizationId).state });
    }
  }

  #hasReceipt({ organizationId, receipt }: JournalEntry, inBatch: Set<string>): boolean {
    if (receipt === undefined) return false;
    const name = receiptName({ organizationId, receipt });
    const isUsed = this.#receipts.has(name) || inBatch.has(name);
    inBatch.add(name);
    return isUsed;
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

/** The row as a read returns it. */
function withoutSeq<Row extends object>(row: Stored<Row>): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "seq")) as Row;
}

function receiptName({ organizationId, receipt }: Pick<UsedReceipt, "organizationId" | "receipt">): string {
  return `receipt ${organizationId} ${receipt}`;
}

function movementName({
  organizationId,
  railMovement,
}: {
  organizationId: string;
  railMovement?: string | undefined;
}): string {
  return `movement ${organizationId} ${String(railMovement)}`;
}

function bookName(organizationId: OrganizationId): string {
  return `book ${organizationId}`;
}
