import { expect } from "chai";

import type { Command } from "../../../src/domain/commands.js";
import type { BookAccount } from "../../../src/domain/journal.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import type { StoreError } from "../../../src/ledger/ports/store.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import { NO_DEADLINE } from "../../support/commands.js";
import type { TestDatabase } from "../../support/databases.js";
import { type Answer, seen, type State, type Supply } from "./model.js";

interface JournalRow {
  readonly account_id: string;
  readonly debit: BookAccount | null;
  readonly credit: BookAccount | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number;
  readonly held_after_cents: number;
}

interface Parts {
  readonly opened: TestDatabase;
  readonly organizations: ReadonlyMap<OrganizationId, OrganizationId>;
  /** The journal's last seq before this ledger wrote anything. */
  readonly seqBefore: number;
  readonly batchMax: number;
}

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());
const ALL = { size: 1_000, beforeSeq: undefined };

/**
 * The real ledger over a real database. Each organization that the model names is a new one there.
 */
export class LedgerUnderTest {
  readonly engine: string;
  readonly #opened: TestDatabase;
  readonly #ledger: Ledger;
  readonly #organizations: ReadonlyMap<OrganizationId, OrganizationId>;
  readonly #seqBefore: number;
  readonly #storeErrors: StoreError[] = [];

  private constructor({ opened, organizations, seqBefore, batchMax }: Parts) {
    this.engine = opened.address.engine;
    this.#opened = opened;
    this.#organizations = organizations;
    this.#seqBefore = seqBefore;
    this.#ledger = new Ledger({
      committer: opened.database.committer,
      now,
      batchMax,
      queueMax: 1_000,
      onStoreError: (error) => this.#storeErrors.push(error),
    });
  }

  static async over(
    opened: TestDatabase,
    { organizations, batchMax }: { organizations: readonly OrganizationId[]; batchMax: number },
  ): Promise<LedgerUnderTest> {
    const own = new Map<OrganizationId, OrganizationId>();
    for (const named of organizations) own.set(named, (await keys(opened.database, now).createOrganization(named)).id);
    return new LedgerUnderTest({ opened, organizations: own, seqBefore: await lastSeqOf(opened), batchMax });
  }

  /** Submits all commands in one turn of the event loop, in this order. */
  async submitAtOnce(commands: readonly Command[]): Promise<Answer[]> {
    const outcomes = await Promise.all(
      commands.map((command) =>
        this.#ledger.submit({ ...command, organizationId: this.#own(command.organizationId) }, NO_DEADLINE),
      ),
    );
    expect(this.#storeErrors).to.deep.equal([]);
    return outcomes.map((outcome) =>
      outcome.kind === "refused" ? outcome : { ...outcome, resource: seen(outcome.resource) },
    );
  }

  /** Reads what is on disk, as callers do. */
  async state(named: OrganizationId): Promise<State> {
    const organizationId = this.#own(named);
    const stored = reads(this.#opened.database);
    const { rows: accounts } = await stored.accounts(organizationId, {}, ALL);
    const { rows: transactions } = await stored.transactions(organizationId, {}, ALL);
    const [supply] = await this.#query<Supply>(
      `SELECT reserve_cents AS reserve, available_cents AS available, held_cents AS held
       FROM supply WHERE organization_id = ?`,
      [organizationId],
    );
    return { accounts: accounts.map(seen), transactions: transactions.map(seen), supply };
  }

  /**
   * Checks that the journal has grown by `rowsExpected` rows since this ledger was made, without a
   * gap.
   */
  async checkSeq(rowsExpected: number): Promise<void> {
    const rows = await this.#query<{ seq: number }>("SELECT seq FROM journal WHERE seq > ? ORDER BY seq", [
      this.#seqBefore,
    ]);
    const seqs = rows.map(({ seq }) => seq - this.#seqBefore);
    expect(seqs, this.engine).to.deep.equal(Array.from({ length: rowsExpected }, (_, index) => index + 1));
    expect(await lastSeqOf(this.#opened), this.engine).to.equal(this.#seqBefore + rowsExpected);
  }

  /**
   * Checks by the journal alone that each row's balances are the sum of the account's postings up
   * to it.
   */
  async checkPostings(named: OrganizationId, rowsExpected: number): Promise<void> {
    const rows = await this.#query<JournalRow>("SELECT * FROM journal WHERE organization_id = ? ORDER BY seq", [
      this.#own(named),
    ]);
    expect(rows, this.engine).to.have.lengthOf(rowsExpected);
    const sums = new Map<string, number>();
    const post = (row: JournalRow, book: BookAccount): number => {
      const name = `${row.account_id} ${book}`;
      const amount = row.amount_cents ?? 0;
      const sum = (sums.get(name) ?? 0) + (row.credit === book ? amount : 0) - (row.debit === book ? amount : 0);
      sums.set(name, sum);
      return sum;
    };
    for (const row of rows) {
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

  #query<Row>(sql: string, bindings: readonly (string | number)[]): Promise<readonly Row[]> {
    return this.#opened.database.reader.rows<Row>(sql, bindings);
  }
}

async function lastSeqOf({ database }: TestDatabase): Promise<number> {
  const [head] = await database.reader.rows<{ last_seq: number }>("SELECT last_seq FROM journal_head");
  if (head === undefined) throw new Error("the table journal_head has no row");
  return head.last_seq;
}
