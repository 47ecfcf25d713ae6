import type { BookHead } from "../../domain/book.js";
import type { Finder, FinderKeys, TableName, Tables } from "../../domain/decision.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { RailAccountRecord } from "../../domain/rail-account.js";
import type { AccountId, DestinationId, OrganizationId } from "../../domain/values/ids.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  NO_RAIL_ACCOUNTS,
  type NumberedEntry,
  type RailAccountsOfAll,
  StoreError,
  type StoreTransaction,
  type TableChanges,
} from "../../ledger/ports/store.js";
import type { BookDirectory, OpenBook } from "./book-directory.js";
import { bookWritesOf } from "./book-writes.js";
import type { Engine, Session, Transact, Write } from "./engine.js";
import { type EntryContent, entryContents, type PersonSalts } from "./entry-contents.js";
import { freezeOf, type FreezeRow } from "./freeze-rows.js";
import {
  type AloneRow,
  type DecidingJournalRow,
  decidingRowOf,
  isTransactionAsMade,
  type JournalRow,
  journalRowOf,
  personalSumOf,
  revealsOf,
  type RevealsRow,
} from "./journal-rows.js";
import { type LedgerRead, type LedgerStatements, ledgerStatements } from "./ledger-statements.js";
import { type ApiKeyRow, storedApiKeyOf } from "./organization-rows.js";
import { isAccountAsWritten, ledgerAccountOf, type LoadedAccountRow } from "./records/account-rows.js";
import { begunAtOf, bookHeadOf, isBookAsWritten, type LoadedBookRow } from "./records/book-head-rows.js";
import { depositOf, type DepositRow, isDepositAsMade } from "./records/deposit-rows.js";
import { destinationOf, type DestinationRow } from "./records/destination-rows.js";
import { idempotencyKeyOf, type IdempotencyKeyRow } from "./records/idempotency-key-rows.js";
import { type MadeDepositRow, type MadeTransactionRow } from "./records/made-rows.js";
import { paymentOf, type PaymentRow } from "./records/payment-rows.js";
import { type MovementRow, type ReceiptRow, usedMovementOf, usedReceiptOf } from "./records/proof-rows.js";
import { proposalOf, type ProposalRow } from "./records/proposal-rows.js";
import { railAccountOf, type RailAccountRow } from "./records/rail-account-rows.js";
import { type PlaceRow, reservePlaceOf } from "./records/reserve-place-rows.js";
import { holderOf, type HolderRow, type ReadTransactionRow, transactionOf } from "./rows.js";
import { orStoreError, storeErrorOf } from "./store-error.js";
import type { BatchFacts, Table } from "./table.js";
import { TABLES } from "./tables.js";

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

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
    const { reads, lockedBooks } = this.#statements;
    await this.#openBooks(lookup.organizationIds);
    const rowsOf = <Row>(read: LedgerRead): Promise<readonly Row[]> => this.#rowsOf<Row>(read, lookup);

    // The order of the statements matters. What belongs to an account is read after the account is
    // locked, so no other server can change it afterwards. The books are locked last, so that other
    // servers wait for them as briefly as possible. A deposit, an account at a rail and a receipt
    // change only under the lock of their book, so they are read after that.
    const [
      keyRows,
      accountRows,
      holderRows,
      freezeRows,
      destinationRows,
      transactionRows,
      lateRows,
      paymentRows,
      movementRows,
      proposalRows,
      bookRows,
      receiptRows,
      depositRows,
      depositSums,
      railRows,
      underWayRows,
      [railAccountsOfAll],
      placeRows,
      waitingRows,
    ] = await Promise.all([
      rowsOf<IdempotencyKeyRow>(reads.idempotencyKeys),
      rowsOf<LoadedAccountRow>(reads.accounts),
      rowsOf<HolderRow>(reads.holders),
      rowsOf<FreezeRow>(reads.freezes),
      rowsOf<DestinationRow>(reads.destinations),
      rowsOf<ReadTransactionRow & MadeTransactionRow>(reads.transactions),
      rowsOf<ReadTransactionRow & MadeTransactionRow>(reads.lateCorrections),
      rowsOf<PaymentRow>(reads.payments),
      rowsOf<MovementRow>(reads.movements),
      rowsOf<ProposalRow>(reads.proposals),
      this.#rows<LoadedBookRow>(lockedBooks, [[...this.#booksByNumber.keys()].map((number) => ({ number }))]),
      rowsOf<ReceiptRow>(reads.receipts),
      rowsOf<DepositRow & MadeDepositRow>(reads.deposits),
      rowsOf<{ readonly organization_id: string; readonly cents: number }>(reads.unallocatedDeposits),
      rowsOf<RailAccountRow>(reads.railAccounts),
      rowsOf<{ readonly rail_account_id: string; readonly count: number }>(reads.paymentsUnderWay),
      this.#railAccountsOfAll(lookup),
      rowsOf<PlaceRow & { readonly organization_id: string }>(reads.reservePlaces),
      rowsOf<ProposalRow>(reads.waitingProposals),
    ]);
    return {
      ...this.#keptHeads(bookRows),
      changedRows: this.#changedRows,
      accounts: this.#accountsOf(accountRows),
      accountHolders: this.#ownRows(holderRows, holderOf),
      freezes: this.#ownRows(freezeRows, freezeOf),
      transactions: this.#ownRows([...transactionRows, ...lateRows], transactionOf, isTransactionAsMade),
      payments: this.#ownRows(paymentRows, paymentOf),
      deposits: this.#ownRows(depositRows, depositOf, isDepositAsMade),
      proposals: this.#ownRows([...proposalRows, ...waitingRows], proposalOf),
      decidingRows: this.#ownRows(await rowsOf<DecidingJournalRow>(reads.decidingRows), decidingRowOf),
      apiKeys: (await rowsOf<ApiKeyRow>(reads.apiKeys)).map(storedApiKeyOf),
      receipts: this.#ownRows(receiptRows, usedReceiptOf),
      movements: this.#ownRows(movementRows, usedMovementOf),
      railAccounts: railRows.flatMap((row) => this.#railAccountsOf(row)),
      paymentsUnderWay: new Map(underWayRows.map((row) => [row.rail_account_id as RailAccountId, row.count])),
      unallocatedDepositCents: new Map(depositSums.map((row) => [row.organization_id as OrganizationId, row.cents])),
      railAccountsOfAll: railAccountsOfAll ?? NO_RAIL_ACCOUNTS,
      ...(await this.#ofPersons(lookup)),
      reservePlaces: placeRows.map(reservePlaceOf),
      idempotencyKeys: this.#ownRows(keyRows, idempotencyKeyOf),
      destinations: this.#ownRows(destinationRows, destinationOf),
    };
  }

  #accountsOf(rows: readonly LoadedAccountRow[]): Loaded["accounts"] {
    for (const { id, last_seq: lastSeq } of rows) this.#lastSeqs.set(id as AccountId, lastSeq);
    return this.#ownRows(rows, ledgerAccountOf, isAccountAsWritten);
  }

  /** None if the book of its organization is not here. */
  #railAccountsOf(row: RailAccountRow): readonly RailAccountRecord[] {
    const book = this.#books.get(row.organization_id as OrganizationId);
    return book === undefined ? [] : [railAccountOf(row, book)];
  }

  /** What the persons of the batch did before. */
  async #ofPersons(lookup: BatchLookup): Promise<Pick<Loaded, "reveals" | "aloneSums">> {
    const { reveals, aloneSums } = this.#statements.reads;
    const [revealRows, aloneRows] = await Promise.all([
      this.#rowsOf<RevealsRow>(reveals, lookup),
      this.#rowsOf<AloneRow>(aloneSums, lookup),
    ]);
    return { reveals: revealsOf(revealRows), aloneSums: this.#ownRows(aloneRows, personalSumOf) };
  }

  /** Takes the lock first. So the read sees the changes of all commits that had the lock before. */
  async #railAccountsOfAll(lookup: BatchLookup): Promise<readonly RailAccountsOfAll[]> {
    const { railAccountsLock, railAccountsOfAll } = this.#statements.reads;
    const locking = this.#rowsOf(railAccountsLock, lookup);
    const [rows] = await Promise.all([this.#rowsOf<RailAccountsOfAll>(railAccountsOfAll, lookup), locking]);
    return rows;
  }

  #rowsOf<Row>({ sql, finders }: LedgerRead, lookup: BatchLookup): Promise<readonly Row[]> {
    return this.#rows<Row>(
      sql,
      finders.map((finder) => this.#parameterOf(lookup.keysOf(finder))),
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

  /**
   * Converts the rows. Leaves out the rows of other organizations' books, and notes those that are
   * not as the service wrote them.
   */
  #ownRows<Row extends { readonly book: number; readonly id?: string | null }, Resource>(
    rows: readonly Row[],
    resourceOf: (row: Row, book: OpenBook) => Resource,
    isAsWritten: (row: Row, book: OpenBook, resource: Resource) => boolean = () => true,
  ): readonly Resource[] {
    const resources: Resource[] = [];
    for (const row of rows) {
      const book = this.#booksByNumber.get(row.book);
      if (book === undefined) continue;
      const resource = resourceOf(row, book);
      if (!isAsWritten(row, book, resource)) this.#changedRows.add(String(row.id));
      resources.push(resource);
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
      ...this.#bookWrites(changes.books),
      // The order matters: a row comes after the rows that it refers to.
      ...TABLE_NAMES.flatMap((name) => this.#tableWrites(name, changes)),
      { sql: statements.insertJournal, rows: ordinary },
      { sql: statements.insertAlone, rows: alone },
    ];
    return writes.filter(({ rows }) => rows.length > 0);
  }

  #bookWrites(heads: readonly BookHead[]): readonly Write[] {
    return bookWritesOf(
      this.#statements,
      heads.map((head) => ({
        head,
        before: this.#heads.get(head.organizationId),
        book: this.bookOf(head.organizationId),
      })),
    );
  }

  #tableWrites(name: TableName, changes: Changes): readonly Write[] {
    const table = TABLES[name] as Table<Owned>;
    const { created, changed } = changes.tables[name] as TableChanges<Owned>;
    const { insert, updates } = this.#statements.tables[name];
    const inserts: Write = {
      sql: insert,
      rows: created.map(({ row, createdBy, changedBy }) => {
        const book = this.bookOf(row.organizationId);
        return table.insertedRow(row, { book, seq: createdBy?.seq ?? 0, changedSeq: changedBy?.seq ?? 0, facts: this });
      }),
    };
    const rowsByUpdate = updates.map((): object[] => []);
    for (const { before, row, changedBy } of changed) {
      const index = table.updates.findIndex(({ fits }) => fits(before, row));
      const update = table.updates[index];
      if (update === undefined) throw new Error(`a row of ${table.name} changed in a way that no update allows`);
      rowsByUpdate[index]?.push(update.updatedRow(row, this, changedBy?.seq ?? 0));
    }
    // The updates come first: an erasure frees the user_id that a new account of the batch takes.
    return [...updates.map((sql, index): Write => ({ sql, rows: rowsByUpdate[index] ?? [] })), inserts];
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
