import type { BookHead } from "../../domain/book.js";
import { type Finder, type FinderKeys, ofEachTable, type TableName, type Tables } from "../../domain/decision.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { AccountId, DestinationId, OrganizationId } from "../../domain/values/ids.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  type LoadedRows,
  NO_RAIL_ACCOUNTS,
  type NumberedEntry,
  type RailAccountsOfCells,
  StoreError,
  type StoreTransaction,
  type TableChanges,
} from "../../ledger/ports/store.js";
import type { BookDirectory, OpenBook } from "./book-directory.js";
import { bookWritesOf } from "./book-writes.js";
import type { Engine, Session, Transact, Write } from "./engine.js";
import { type EntryContent, entryContents, type PersonSalts } from "./entry-contents.js";
import {
  type AloneRow,
  type BankFileJournalRow,
  bankFileRowOf,
  type CheckRow,
  closingOf,
  type ClosingRow,
  type DecidingJournalRow,
  decidingRowOf,
  type JournalRow,
  journalRowOf,
  type PaidRow,
  paidToOf,
  payoutCheckOf,
  personalSumOf,
  revealsOf,
  type RevealsRow,
} from "./journal-rows.js";
import { type LedgerStatements, ledgerStatements, type TableRead } from "./ledger-statements.js";
import { listedIn, type PayoutListRow } from "./listed.js";
import { begunAtOf, bookHeadOf, isBookAsWritten, type LoadedBookRow } from "./records/book-head-rows.js";
import { type MovementRow, type ReceiptRow, usedMovementOf, usedReceiptOf } from "./records/proof-rows.js";
import { orStoreError, storeErrorOf } from "./store-error.js";
import { type BatchFacts, type LedgerRead, type OwnedRow, pick, type RowPlace, type Table } from "./table.js";
import { TABLES, TABLES_IN_ORDER } from "./tables.js";

/** Implements the port `LedgerStore` on the transactions of an engine. */
export function ledgerStore(engine: Engine, transaction: Transact, directory: BookDirectory): LedgerStore {
  const statements = ledgerStatements(engine);
  return {
    async transact(work) {
      // An error that `work` throws by itself is a bug. It must not look like a failure of the
      // database.
      let bug: { readonly error: unknown } | undefined;
      const outcome = transaction(async (session) => {
        try {
          const inside = new LedgerTransaction(session, statements, directory);
          return await work({
            load: (lookup) => orStoreError(engine, inside.load(lookup)),
            save: (changes) => orStoreError(engine, inside.save(changes)),
          });
        } catch (error) {
          bug = error instanceof StoreError ? undefined : { error };
          throw error;
        }
      });
      return outcome.catch((error: unknown) => {
        // If a statement failed before, its error is the cause of the bug.
        throw bug?.error === error ? error : storeErrorOf(engine, error);
      });
    },
  };
}

const NO_ROWS: Promise<readonly never[]> = Promise.resolve([]);

/** One database transaction of the ledger. It loads once, and then saves once. */
class LedgerTransaction implements StoreTransaction, BatchFacts {
  readonly #session: Session;
  readonly #statements: LedgerStatements;
  readonly #directory: BookDirectory;
  readonly #books = new Map<OrganizationId, OpenBook>();
  readonly #booksByNumber = new Map<number, OpenBook>();
  /** The books as they were loaded. */
  readonly #heads = new Map<OrganizationId, BookHead>();
  /** The `seq` of the newest journal row of each loaded account. */
  readonly #lastSeqs = new Map<AccountId, number>();
  /** The ids of the loaded rows that are not as the service wrote them. */
  readonly #changedRows = new Set<string>();
  /** The salts of the holders and destinations that this batch creates. */
  readonly #personSalts: PersonSalts = new Map();

  constructor(session: Session, statements: LedgerStatements, directory: BookDirectory) {
    this.#session = session;
    this.#statements = statements;
    this.#directory = directory;
  }

  async load(lookup: BatchLookup): Promise<Loaded> {
    const { readsBeforeLock, readsAfterLock, reads, lockedBooks } = this.#statements;
    await this.#openBooks(lookup.organizationIds);
    const rowsOf = <Row>(read: LedgerRead): Promise<readonly Row[]> => this.#rowsOf<Row>(read, lookup);
    const found = (tableReads: readonly TableRead[]): Promise<readonly (readonly OwnedRow[])[]> =>
      Promise.all(tableReads.map((read) => rowsOf<OwnedRow>(read)));

    // The order of the statements matters. What belongs to an account is read after the account is
    // locked, so no other server can change it afterwards. The books are locked last, so that other
    // servers wait for them as briefly as possible. What changes only under the lock of its book is
    // read after that.
    const [
      rowsBeforeLock,
      movementRows,
      bookRows,
      rowsAfterLock,
      receiptRows,
      depositSums,
      underWayRows,
      [railAccountsOfCells],
      decidingRows,
      revealRows,
      aloneRows,
      closingRows,
      paidRows,
      bankFileRows,
      checkRows,
    ] = await Promise.all([
      found(readsBeforeLock),
      rowsOf<MovementRow>(reads.movements),
      this.#rows<LoadedBookRow>(lockedBooks, [[...this.#booksByNumber.keys()].map((number) => ({ number }))]),
      found(readsAfterLock),
      rowsOf<ReceiptRow>(reads.receipts),
      rowsOf<{ readonly organization_id: string; readonly cents: number }>(reads.unallocatedDeposits),
      rowsOf<{ readonly rail_account_id: string; readonly count: number }>(reads.paymentsUnderWay),
      this.#railAccountsOfCells(lookup),
      rowsOf<DecidingJournalRow>(reads.decidingRows),
      rowsOf<RevealsRow>(reads.reveals),
      rowsOf<AloneRow>(reads.aloneSums),
      rowsOf<ClosingRow>(reads.closedMonths),
      rowsOf<PaidRow>(reads.paidTo),
      rowsOf<BankFileJournalRow>(reads.bankFiles),
      rowsOf<CheckRow>(reads.payoutChecks),
    ]);
    const rowsOfReads = [...rowsBeforeLock, ...rowsAfterLock];
    const loaded = ofEachTable((): Owned[] => []);
    for (const [index, { table }] of [...readsBeforeLock, ...readsAfterLock].entries()) {
      for (const row of this.#rowsOfTable(table, rowsOfReads[index] ?? [])) loaded[table].push(row);
    }
    const tables = loaded as LoadedRows;
    for (const { id, lastSeq } of tables.accounts) this.#lastSeqs.set(id, lastSeq);
    const heads = this.#keptHeads(bookRows);
    return {
      ...tables,
      ...heads,
      listed: await this.#listed(lookup, tables, heads.books),
      changedRows: this.#changedRows,
      receipts: this.#ownRows(receiptRows, usedReceiptOf),
      movements: this.#ownRows(movementRows, usedMovementOf),
      paymentsUnderWay: new Map(underWayRows.map((row) => [row.rail_account_id as RailAccountId, row.count])),
      unallocatedDepositCents: new Map(depositSums.map((row) => [row.organization_id as OrganizationId, row.cents])),
      railAccountsOfCells: railAccountsOfCells ?? NO_RAIL_ACCOUNTS,
      decidingRows: this.#ownRows(decidingRows, decidingRowOf),
      reveals: revealsOf(revealRows),
      aloneSums: this.#ownRows(aloneRows, personalSumOf),
      closedMonths: this.#ownRows(closingRows, closingOf),
      paidTo: this.#ownRows(paidRows, paidToOf),
      bankFiles: this.#ownRows(bankFileRows, bankFileRowOf),
      payoutChecks: this.#ownRows(checkRows, payoutCheckOf).filter((check) => check !== undefined),
    };
  }

  #listed(lookup: BatchLookup, tables: LoadedRows, heads: readonly BookHead[]): Promise<Loaded["listed"]> {
    return listedIn(lookup, tables, {
      heads,
      facts: this,
      kept: this.#directory.payoutLists,
      changedRows: this.#changedRows,
      read: (lists) => this.#rows<PayoutListRow>(this.#statements.reads.payoutLists.sql, [lists]),
    });
  }

  /** Converts the rows, and notes those that are not as the service wrote them. */
  #rowsOfTable<Name extends TableName>(name: Name, rows: readonly OwnedRow[]): readonly Tables[Name][] {
    const { rowOf, isAsWritten }: Table<Tables[Name]> = TABLES[name];
    return this.#ownRows(rows, (read, book) => {
      // The reads of a table find what its functions take.
      const row = rowOf(read as never, book);
      if (isAsWritten?.(read as never, book, row) === false) this.#changedRows.add(String(read.id));
      return row;
    });
  }

  /** Takes the lock first. So the read sees the changes of all commits that had the lock before. */
  async #railAccountsOfCells(lookup: BatchLookup): Promise<readonly RailAccountsOfCells[]> {
    const { railAccountsLock, railAccountsOfCells } = this.#statements.reads;
    const locking = this.#rowsOf(railAccountsLock, lookup);
    const [rows] = await Promise.all([this.#rowsOf<RailAccountsOfCells>(railAccountsOfCells, lookup), locking]);
    return rows;
  }

  #rowsOf<Row>({ sql, finders }: LedgerRead, lookup: BatchLookup): Promise<readonly Row[]> {
    const keys = finders.map((finder) => lookup.keysOf(finder));
    // Most reads of a batch have no keys.
    if (keys.every(({ length }) => length === 0)) return NO_ROWS;
    return this.#rows<Row>(
      sql,
      keys.map((each) => this.#parameterOf(each)),
    );
  }

  /** Keeps the heads as they are loaded: a batch writes only the columns that it changes. */
  #keptHeads(rows: readonly LoadedBookRow[]): Pick<Loaded, "books" | "begunAt"> {
    const books = rows.map((row) => {
      const head = bookHeadOf(row);
      this.#heads.set(head.organizationId, head);
      if (!isBookAsWritten(row, this.bookOf(head.organizationId))) this.#changedRows.add(head.organizationId);
      return head;
    });
    return { books, begunAt: begunAtOf(rows) };
  }

  /**
   * Opens the books that exist. Rejects the batch if no master key decrypts the keys of one of
   * them. The ledger then splits the batch, so the commands of the other books succeed.
   */
  async #openBooks(organizationIds: readonly OrganizationId[]): Promise<void> {
    for (const book of await this.#directory.find(organizationIds, (read) => this.#session.read(read))) {
      this.#books.set(book.organizationId, book);
      this.#booksByNumber.set(book.number, book);
    }
  }

  /**
   * Replaces the organization of a name by the number of its book. Leaves out an organization
   * without a book: only its own commands must fail.
   */
  #parameterOf(keys: readonly FinderKeys[Finder][]): readonly unknown[] {
    return keys.flatMap((key): readonly unknown[] => {
      if (typeof key === "string") return [key];
      const book = this.#books.get(key.organizationId);
      return book === undefined ? [] : [{ book: book.number, name: key.name }];
    });
  }

  /** Converts the rows. Leaves out those of other organizations' books. */
  #ownRows<Row extends OwnedRow, Resource>(
    rows: readonly Row[],
    resourceOf: (row: Row, book: OpenBook) => Resource,
  ): readonly Resource[] {
    const resources: Resource[] = [];
    for (const row of rows) {
      const { book: number, organization_id: id } = row;
      const book = number === undefined ? this.#books.get(id as OrganizationId) : this.#booksByNumber.get(number);
      if (book !== undefined) resources.push(resourceOf(row, book));
    }
    return resources;
  }

  /**
   * Returns the rows that a SELECT finds. Each input is one parameter, encoded as JSON. Skips the
   * query if all inputs are empty.
   */
  async #rows<Row>(sql: string, inputs: readonly (readonly unknown[])[]): Promise<readonly Row[]> {
    if (inputs.every((input) => input.length === 0)) return [];
    const bindings = inputs.map((input) => JSON.stringify(input));
    return await this.#session.read<Row>({ sql, bindings });
  }

  async save(changes: Changes): Promise<void> {
    await this.#session.write(this.#writesOf(changes));
  }

  #writesOf(changes: Changes): readonly Write[] {
    const statements = this.#statements;
    // The journal comes before the tables, because #append updates the accounts' last_seq.
    const contentOf = entryContents(changes, this.#personSalts);
    const journalRows = changes.entries.map((numbered) => this.#append(numbered, contentOf(numbered)));
    const alone = journalRows.filter((row) => row.alone_by !== undefined);
    const ordinary = alone.length === 0 ? journalRows : journalRows.filter((row) => row.alone_by === undefined);
    const writes: readonly Write[] = [
      ...bookWritesOf(
        statements,
        changes.books.map((head) => {
          const { organizationId } = head;
          return { head, before: this.#heads.get(organizationId), book: this.bookOf(organizationId) };
        }),
      ),
      // The order matters: a row comes after the rows that it refers to.
      ...TABLES_IN_ORDER.flatMap((name) => this.#tableWrites(name, changes)),
      { sql: statements.insertJournal, rows: ordinary },
      { sql: statements.insertAlone, rows: alone },
    ];
    return writes.filter(({ rows }) => rows.length > 0);
  }

  #tableWrites(name: TableName, changes: Changes): readonly Write[] {
    const table = TABLES[name] as Table<Owned>;
    const { created, changed } = changes.tables[name] as TableChanges<Owned>;
    if (created.length + changed.length === 0) return [];
    const { insert, updates } = this.#statements.tables[name];
    const inserts: Write = {
      sql: insert,
      rows: created.map(({ row, createdBy, changedBy }) => {
        const place = this.#placeOf(row, { seq: createdBy?.seq ?? 0, changedSeq: changedBy?.seq ?? 0 });
        return table.insertedRow(row, place);
      }),
    };
    const rowsByUpdate = updates.map((): object[] => []);
    for (const { before, row, changedBy } of changed) {
      const index = table.updates.findIndex(({ fits }) => fits?.(before, row) ?? true);
      const [update, statement] = [table.updates[index], updates[index]];
      if (update === undefined || statement === undefined)
        throw new Error(`a row of ${table.name} changed in a way that no update allows`);
      const seq = changedBy?.seq ?? 0;
      const updated =
        update.updatedRow?.(row, this, seq) ??
        pick(table.insertedRow(row, this.#placeOf(row, { seq: 0, changedSeq: seq })), statement.names);
      rowsByUpdate[index]?.push(updated);
    }
    // The updates come first: an erasure frees the user_id that a new account of the batch takes.
    const writes = updates.flatMap(({ sql, deletes }, index): readonly Write[] =>
      [sql, ...deletes].map((each) => ({ sql: each, rows: rowsByUpdate[index] ?? [] })),
    );
    return [...writes, inserts];
  }

  #placeOf({ organizationId }: Owned, seqs: Pick<RowPlace, "seq" | "changedSeq">): RowPlace {
    return { book: this.bookOf(organizationId), ...seqs, facts: this };
  }

  /**
   * Links the entry to the previous row of the same account. The first row of an account has no
   * previous row.
   */
  #append({ entry, seq }: NumberedEntry, { created, salt }: EntryContent): JournalRow {
    const { accountId, organizationId } = entry;
    const previousSeq = accountId === undefined ? null : (this.#lastSeqs.get(accountId) ?? null);
    if (accountId !== undefined) this.#lastSeqs.set(accountId, seq);
    const { number, salts } = this.bookOf(organizationId);
    return journalRowOf(entry, { book: number, seq, previousSeq, salt: salt ?? salts.of(seq), created });
  }

  bookOf(organizationId: OrganizationId): OpenBook {
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
    return book;
  }

  lastSeqOf(accountId: AccountId): number {
    const lastSeq = this.#lastSeqs.get(accountId);
    if (lastSeq === undefined) throw new Error(`the batch changed ${accountId}, but it has no journal row`);
    return lastSeq;
  }

  personSaltOf(id: AccountId | DestinationId): string {
    const salt = this.#personSalts.get(id);
    if (salt === undefined) throw new Error(`the batch did not create the personal data of ${id}`);
    return salt;
  }
}

type Owned = Tables[TableName];
