import { expect } from "chai";

import type { BookSums } from "../../../src/domain/book.js";
import type { BookAccount } from "../../../src/domain/journal.js";
import type { Command } from "../../../src/domain/operations.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import type { StoreError } from "../../../src/ledger/ports/store.js";
import type { Cell } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import { bookMac, type BoundBookRow } from "../../../src/storage/secrets/balance-mac.js";
import type { Columns } from "../../../src/storage/sql/engine.js";
import { depositColumns, depositOf, type DepositRow } from "../../../src/storage/sql/records/deposit-rows.js";
import type { TestDatabase } from "../../support/databases.js";
import { NO_DEADLINE } from "../../support/names.js";
import { seenLimits } from "./limits-model.js";
import type { State } from "./model.js";
import { type Answer, seen, seenDeposit } from "./rows.js";

interface JournalRow {
  readonly seq: number;
  readonly account_id: string | null;
  readonly kind: string;
  readonly debit: BookAccount | null;
  readonly credit: BookAccount | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number | null;
  readonly held_after_cents: number | null;
  readonly recorded_at: number;
}

/** A row of `books`, with the names of `BookHead`. */
type BookRow = BookSums &
  Omit<NonNullable<State["book"]>, "sums" | "isSuspended"> & { readonly suspendedSeq: number | null };

interface Parts {
  readonly opened: TestDatabase;
  readonly now: () => UnixMillis;
  readonly organizations: ReadonlyMap<OrganizationId, OrganizationId>;
  readonly batchMax: number;
}

const ALL = { size: 1_000, beforeSeq: undefined };

/**
 * The real ledger over a real database. Each organization that the model names is a new one there.
 */
export class LedgerUnderTest {
  readonly engine: string;
  readonly #cell: Cell;
  readonly #ledger: Ledger;
  readonly #organizations: ReadonlyMap<OrganizationId, OrganizationId>;
  readonly #storeErrors: StoreError[] = [];

  private constructor({ opened, now, organizations, batchMax }: Parts) {
    this.engine = opened.address.engine;
    this.#cell = opened.cell;
    this.#organizations = organizations;
    this.#ledger = new Ledger({
      committer: opened.cell.committer,
      now,
      batchMax,
      queueMax: 1_000,
      onStoreError: (error) => this.#storeErrors.push(error),
    });
  }

  static async over(
    opened: TestDatabase,
    {
      organizations,
      ...options
    }: Omit<Parts, "opened" | "organizations"> & { organizations: readonly OrganizationId[] },
  ): Promise<LedgerUnderTest> {
    const own = new Map<OrganizationId, OrganizationId>();
    const all = keys(opened.database, options.now);
    for (const named of organizations) own.set(named, (await all.createOrganization(named)).id);
    return new LedgerUnderTest({ opened, organizations: own, ...options });
  }

  /** Submits all commands in one turn of the event loop, in this order. */
  async submitAtOnce(commands: readonly Command[]): Promise<Answer[]> {
    const outcomes = await Promise.all(
      commands.map((command) =>
        this.#ledger.submit({ ...command, organizationId: this.#own(command.organizationId) }, NO_DEADLINE),
      ),
    );
    expect(this.#storeErrors.map(({ cause }) => String(cause)).join("\n"), this.engine).to.equal("");
    return outcomes.map((outcome) =>
      outcome.kind === "refused" ? outcome : { ...outcome, resource: seen(outcome.resource) },
    );
  }

  /** Reads what is on disk, as callers do. */
  async state(named: OrganizationId): Promise<State> {
    const organizationId = this.#own(named);
    const stored = reads(this.#cell);
    const { rows: accounts } = await stored.accounts(organizationId, {}, ALL);
    const { rows: transactions } = await stored.transactions(organizationId, {}, ALL);
    const { reader, engine } = this.#cell;
    const deposits = await this.#depositsOf(organizationId);
    const limits = await stored.limits(organizationId);
    const [row] = await reader.rows<BookRow>(
      `SELECT state, suspended_seq AS "suspendedSeq", last_seq AS "lastSeq", last_recorded_at AS "lastRecordedAt",
         reserve_cents AS reserve, shortfall_cents AS shortfall, charges_cents AS charges, available_cents AS available, held_cents AS held, unallocated_cents AS unallocated
       FROM ${engine.table("books")} WHERE organization_id = ?`,
      [organizationId],
    );
    return {
      accounts: accounts.map(seen),
      transactions: transactions.map(seen),
      deposits,
      book: row && bookOf(row),
      limits: seenLimits(limits, accounts, row?.lastRecordedAt ?? toUnixMillis(0)),
    };
  }

  async #depositsOf(organizationId: OrganizationId): Promise<State["deposits"]> {
    const { reader, engine, directory } = this.#cell;
    const rows = await reader.rows<DepositRow>(
      `SELECT ${depositColumns(engine)} FROM ${engine.table("deposits")} d JOIN ${engine.table("books")} b ON b.number = d.book
       WHERE b.organization_id = ? ORDER BY d.seq DESC`,
      [organizationId],
    );
    const [book] = await directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
    return rows.flatMap((row) => (book === undefined ? [] : seenDeposit(depositOf(row, book))));
  }

  /** Changes the row of a book, past the ledger. */
  async changeBook(named: OrganizationId, change: Readonly<Record<string, string | number | null>>): Promise<void> {
    const { engine, transact, directory } = this.#cell;
    const books = engine.table("books");
    const typeOf = (value: string | number | null) => (typeof value === "string" ? "text" : "int64");
    const row = { organization_id: this.#own(named), ...change };
    const columns: Columns = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeOf(value)]));
    const key = "organization_id";
    const bound = engine.update(books, { key, columns: { organization_id: "text", mac: "text" } });
    await transact(async (session) => {
      await session.write([{ sql: engine.update(books, { key, columns }), rows: [row] }]);
      const { balanceKey } = await directory.book(row.organization_id, (read) => session.read(read));
      const sql = `SELECT * FROM ${books} WHERE organization_id = ?`;
      const [stored] = await session.read<BoundBookRow>({ sql, bindings: [row.organization_id] });
      if (stored === undefined) throw new Error("the book has no row");
      await session.write([
        { sql: bound, rows: [{ organization_id: row.organization_id, mac: bookMac(balanceKey, stored) }] },
      ]);
    });
  }

  /**
   * Checks the book by its journal alone: `seq` has no gap, no time is before that of an earlier
   * row, and each row has the balances that all postings up to it give.
   */
  async checkJournal(named: OrganizationId, rowsExpected: number): Promise<void> {
    const { reader, engine } = this.#cell;
    const rows = await reader.rows<JournalRow>(
      `SELECT j.* FROM ${engine.table("journal")} j JOIN ${engine.table("books")} b ON b.number = j.book
       WHERE b.organization_id = ? ORDER BY j.seq`,
      [this.#own(named)],
    );
    expect(rows[0]?.kind, this.engine).to.equal("organization.created");
    const seqs = rows.map(({ seq }) => seq);
    expect(seqs, this.engine).to.deep.equal(Array.from({ length: rowsExpected }, (_, index) => index + 1));
    const times = rows.map(({ recorded_at: recordedAt }) => recordedAt);
    expect(times, this.engine).to.deep.equal(times.toSorted((left, right) => left - right));
    this.#checkPostings(rows);
  }

  #checkPostings(rows: readonly JournalRow[]): void {
    const sums = new Map<string, number>();
    const post = (row: JournalRow, book: BookAccount): number => {
      const name = `${String(row.account_id)} ${book}`;
      const amount = row.amount_cents ?? 0;
      const sum = (sums.get(name) ?? 0) + (row.credit === book ? amount : 0) - (row.debit === book ? amount : 0);
      sums.set(name, sum);
      return sum;
    };
    for (const row of rows) {
      if (row.account_id === null) continue;
      expect([post(row, "available"), post(row, "held")], this.engine).to.deep.equal([
        row.available_after_cents,
        row.held_after_cents,
      ]);
    }
  }

  close(): Promise<void> {
    return this.#ledger.close();
  }

  #own(named: OrganizationId): OrganizationId {
    const own = this.#organizations.get(named);
    if (own === undefined) throw new Error(`the test has no organization ${named}`);
    return own;
  }
}

function bookOf({ state, suspendedSeq, lastSeq, lastRecordedAt, ...sums }: BookRow): State["book"] {
  return { state, isSuspended: suspendedSeq !== null, lastSeq, lastRecordedAt, sums };
}
