import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import type { BookHead, BookState, BookSums } from "../../../../src/domain/book.js";
import type { UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { JournalEntry, Posting } from "../../../../src/domain/journal.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import type { LedgerStore } from "../../../../src/ledger/ports/store.js";
import { type Cell, openDatabase } from "../../../../src/storage/database.js";
import { migrate } from "../../../../src/storage/migrate.js";
import { insertOrganization } from "../../../../src/storage/organizations/new-organization.js";
import { masterKeysIn } from "../../../../src/storage/secrets/master-key.js";
import { BookDirectory, type OpenBook } from "../../../../src/storage/sql/book-directory.js";
import type { Session, Transact } from "../../../../src/storage/sql/engine.js";
import { ledgerStore } from "../../../../src/storage/sql/ledger-store.js";
import { limitsOf, type LimitsRow } from "../../../../src/storage/sql/records/book-head-rows.js";
import { depositColumns, depositOf, type DepositRow } from "../../../../src/storage/sql/records/deposit-rows.js";
import { freezeOf, type FreezeRow, standingFreezesColumn } from "../../../../src/storage/sql/records/freeze-rows.js";
import { fullAccountOf, type FullAccountRow } from "../../../../src/storage/sql/records/holder-rows.js";
import {
  type ReadTransactionRow,
  transactionOf,
  withBalanceAfter,
} from "../../../../src/storage/sql/records/transaction-rows.js";
import { openSqliteForWriting } from "../../../../src/storage/sqlite/connection.js";
import { sqliteEngine } from "../../../../src/storage/sqlite/engine.js";
import { SqliteReader } from "../../../../src/storage/sqlite/reader.js";
import { SqliteStatements, sqliteTransaction } from "../../../../src/storage/sqlite/statements.js";
import { findingsIn } from "../../../support/findings.js";
import { TEST_MASTER_KEY_FILE } from "../../../support/master-key.js";
import { mustBe } from "../report/violation.js";
import {
  type Books,
  BOOKS_BEGIN,
  type Connection,
  type Disk,
  type MakeDisk,
  ORGANIZATIONS,
  type Point,
  type Steps,
  type Stored,
} from "./disk.js";

const masterKeys = masterKeysIn(TEST_MASTER_KEY_FILE);

/** New databases, each a copy of one that has been migrated once and has a book of everybody. */
export class SqliteDisks {
  readonly #folder: string;
  readonly #books: readonly OpenBook[];
  #made = 0;

  private constructor(folder: string, books: readonly OpenBook[]) {
    this.#folder = folder;
    this.#books = books;
  }

  static async open(): Promise<SqliteDisks> {
    const folder = mkdtempSync(join(tmpdir(), "kesc-simulation-"));
    const filename = templateIn(folder);
    const database = await openDatabase({ engine: "sqlite", filename, masterKeyFile: TEST_MASTER_KEY_FILE });
    try {
      return new SqliteDisks(folder, await createBooks(database.cells[0]));
    } finally {
      await database.close();
    }
  }

  readonly make: MakeDisk = (organizations) => {
    this.#made += 1;
    const filename = join(this.#folder, `${String(this.#made)}.db`);
    copyFileSync(templateIn(this.#folder), filename);
    return new SqliteDisk(filename, organizations, this.#books);
  };

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function templateIn(folder: string): string {
  return join(folder, "template.db");
}

async function createBooks(cell: Cell): Promise<readonly OpenBook[]> {
  await migrate(cell);
  for (const id of ORGANIZATIONS)
    await insertOrganization(cell, { id, name: id, is_sandbox: 0, created_at: BOOKS_BEGIN });
  return cell.directory.find(ORGANIZATIONS, ({ sql, bindings }) => cell.reader.rows(sql, bindings));
}

/**
 * The service's own storage code on a file. A crash closes the connection in the middle of its
 * transaction.
 */
class SqliteDisk implements Disk {
  readonly racy = false;
  readonly organizations: readonly OrganizationId[];
  readonly #filename: string;
  readonly #books: readonly OpenBook[];

  constructor(filename: string, organizations: readonly OrganizationId[], books: readonly OpenBook[]) {
    this.#filename = filename;
    this.organizations = organizations;
    this.#books = books;
  }

  open(): Connection {
    const connection = openSqliteForWriting(this.#filename);
    const transact = sqliteTransaction(connection, new SqliteStatements(connection));
    const directory = new BookDirectory(sqliteEngine, masterKeys);
    const close = (): void => {
      connection.close();
    };
    return {
      store: (steps) => storeInSteps({ transact, directory, steps }),
      crash: close,
      close,
    };
  }

  books(): Books {
    const { journal, heads, ...others } = this.#read((all) => booksIn(all, this.#books));
    // The books of the organizations of other cells must stay as the template has them.
    const isUsed = (id: OrganizationId, seq: number): boolean => seq > 1 || this.organizations.includes(id);
    return {
      ...others,
      journal: journal.filter(({ organizationId, seq }) => isUsed(organizationId, seq)),
      heads: new Map([...heads].filter(([id, { lastSeq }]) => isUsed(id, lastSeq))),
    };
  }

  journalAfter(organizationId: OrganizationId, seq: number): readonly Stored<JournalEntry>[] {
    return this.#read((all) =>
      all<JournalRow>(`${JOURNAL} WHERE organization_id = ? AND seq > ? ORDER BY seq`, [organizationId, seq]).map(
        entryOf,
      ),
    );
  }

  setState(organizationId: OrganizationId, state: BookState): boolean {
    const connection = new BetterSqlite3(this.#filename, { timeout: 0 });
    try {
      connection.prepare("UPDATE books SET state = ? WHERE organization_id = ?").run(state, organizationId);
      return true;
    } catch (error) {
      if (error instanceof BetterSqlite3.SqliteError && error.code === "SQLITE_BUSY") return false;
      throw error;
    } finally {
      connection.close();
    }
  }

  /**
   * `kesc verify` would miss the row of the journal that suspends. Its writing has tests of its own
   * (test/storage/organizations/commit-now.test.ts).
   */
  setSuspended(): boolean {
    return false;
  }

  /** Runs the check of `kesc verify`. */
  async verify(): Promise<void> {
    // A database that is opened for this alone would start a thread.
    const cell = { engine: sqliteEngine, reader: new SqliteReader(this.#filename), masterKeys };
    try {
      mustBe("what kesc verify finds", [], await findingsIn({ cells: [cell] }));
    } finally {
      await cell.reader.close();
    }
  }

  dispose(): void {
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${this.#filename}${ending}`, { force: true });
  }

  #read<Result>(work: (all: SelectAll) => Result): Result {
    const connection = new BetterSqlite3(this.#filename, { readonly: true });
    try {
      return work((sql, bindings = []) => connection.prepare(sql).all(...bindings) as never);
    } finally {
      connection.close();
    }
  }
}

type SelectAll = <Row>(sql: string, bindings?: readonly (string | number)[]) => Row[];

/** The ledger's store, which waits for its turn before each statement. */
function storeInSteps({
  transact,
  directory,
  steps,
}: {
  transact: Transact;
  directory: BookDirectory;
  steps: Steps;
}): LedgerStore {
  let next: Point = "load";
  const turn = async (): Promise<void> => {
    await steps.before(next);
    if (next === "save") next = "middle of save";
  };
  const sessionInSteps = (session: Session): Session => ({
    async read(one) {
      await turn();
      return session.read(one);
    },
    async write(writes) {
      for (const write of writes) {
        await turn();
        await session.write([write]);
      }
    },
  });
  const inSteps: Transact = async (work) => {
    const result = await transact(async (session) => {
      const ready = await work(sessionInSteps(session));
      await steps.before("commit");
      return ready;
    });
    steps.committed();
    await steps.before("answer");
    return result;
  };
  const store = ledgerStore(sqliteEngine, inSteps, directory);
  return {
    transact: (work) =>
      store.transact((inside) =>
        work({
          async load(lookup) {
            const loaded = await inside.load(lookup);
            await steps.before("decide");
            return loaded;
          },
          save(changes) {
            next = "save";
            return inside.save(changes);
          },
        }),
      ),
  };
}

interface JournalRow {
  readonly seq: number;
  readonly organization_id: string;
  readonly account_id: string | null;
  readonly transaction_id: string | null;
  readonly freeze_id: string | null;
  readonly kind: string;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number | null;
  readonly held_after_cents: number | null;
  readonly detail: string | null;
  readonly rail_receipt: string | null;
  readonly actor: string;
  readonly reason: string;
  readonly recorded_at: number;
  readonly alone_by: string | null;
  readonly alone_cents: number | null;
}

const JOURNAL = "SELECT journal.*, organization_id FROM journal JOIN books ON number = book";

type BookRow = BookSums & Omit<BookHead, "sums" | "limits" | "suspendedSeq"> & LimitsRow;

function booksIn(all: SelectAll, books: readonly OpenBook[]): Books {
  const bookOf = ({ book }: { readonly book: number }): OpenBook => {
    const found = books.find(({ number }) => number === book);
    if (found === undefined) throw new Error(`a row is in the book ${String(book)}, which nobody opened`);
    return found;
  };
  const heads = all<BookRow>(
    `SELECT organization_id AS "organizationId", state, last_seq AS "lastSeq", last_recorded_at AS "lastRecordedAt",
       reserve_cents AS reserve, shortfall_cents AS shortfall, charges_cents AS charges, available_cents AS available, held_cents AS held,
       unallocated_cents AS unallocated, limits, limits_since, day_from, day_minted_cents, day_redeemed_cents,
       month_from, month_minted_cents, month_redeemed_cents
     FROM books`,
  );
  return {
    accounts: all<FullAccountRow>(
      `SELECT a.*, user_id, phone_number, email, ${standingFreezesColumn(sqliteEngine)}
       FROM accounts a JOIN account_holders ON account_id = id ORDER BY a.book, a.seq`,
    ).map((row) => ({ ...fullAccountOf(row, bookOf(row)), seq: row.seq })),
    freezes: all<FreezeRow>("SELECT * FROM freezes ORDER BY book, seq").map((row) => ({
      ...freezeOf(row, bookOf(row)),
      seq: row.seq,
    })),
    transactions: all<ReadTransactionRow>(
      `SELECT ${withBalanceAfter(sqliteEngine)} FROM transactions t ORDER BY t.book, t.seq`,
    ).map((row) => ({ ...transactionOf(row, bookOf(row)), seq: row.seq })),
    deposits: all<DepositRow>(`SELECT ${depositColumns(sqliteEngine)} FROM deposits d ORDER BY d.book, d.seq`).map(
      (row) => ({
        ...depositOf(row, bookOf(row)),
        seq: row.seq,
      }),
    ),
    journal: all<JournalRow>(`${JOURNAL} ORDER BY book, seq`).map(entryOf),
    heads: new Map(heads.map((row) => [row.organizationId, headOf(row)])),
    idempotencyKeys: all<UsedIdempotencyKey>(
      `SELECT organization_id AS "organizationId", key, resource_id AS "resourceId", created_at AS "createdAt"
       FROM idempotency_keys JOIN books ON number = book`,
    ),
  };
}

function headOf(row: BookRow): BookHead {
  const { organizationId, state, lastSeq, lastRecordedAt, reserve, shortfall, charges, available, held, unallocated } =
    row;
  const sums = { reserve, shortfall, charges, available, held, unallocated };
  const switches = { suspendedSeq: undefined, receiptsRequiredSeq: undefined };
  return { organizationId, state, ...switches, lastSeq, lastRecordedAt, sums, limits: limitsOf(row) };
}

function entryOf(row: JournalRow): Stored<JournalEntry> {
  const { debit, credit, amount_cents: amountCents, available_after_cents: availableCents } = row;
  return {
    seq: row.seq,
    organizationId: row.organization_id,
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    freezeId: (row.freeze_id ?? undefined) as FreezeId | undefined,
    kind: row.kind,
    posting: debit === null ? undefined : ({ debit, credit, amountCents } as Posting),
    balancesAfter: availableCents === null ? undefined : { availableCents, heldCents: row.held_after_cents },
    detail: row.detail ?? undefined,
    receipt: row.rail_receipt ?? undefined,
    ...(row.alone_by === null ? {} : { alone: { person: row.alone_by, cents: row.alone_cents } }),
    actor: row.actor,
    reason: row.reason,
    recordedAt: row.recorded_at,
  } as Stored<JournalEntry>;
}
