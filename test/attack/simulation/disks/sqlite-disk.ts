import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import type { UsedIdempotencyKey } from "../../../../src/domain/decision.js";
import type { JournalEntry, Posting } from "../../../../src/domain/journal.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import type { LedgerStore } from "../../../../src/ledger/ports/store.js";
import { openDatabase } from "../../../../src/storage/database.js";
import { migrate } from "../../../../src/storage/migrate.js";
import type { Session, Transact } from "../../../../src/storage/sql/engine.js";
import { ledgerStore } from "../../../../src/storage/sql/ledger-store.js";
import { accountOf, type AccountRow, transactionOf, type TransactionRow } from "../../../../src/storage/sql/rows.js";
import { openSqliteForWriting } from "../../../../src/storage/sqlite/connection.js";
import { sqliteEngine } from "../../../../src/storage/sqlite/engine.js";
import { SqliteStatements } from "../../../../src/storage/sqlite/statements.js";
import { sqliteTransaction } from "../../../../src/storage/sqlite/transaction.js";
import { verify } from "../../../../src/verify/verify.js";
import { execute } from "../../../support/databases.js";
import type { Supply } from "../../property/model.js";
import { mustBe } from "../report/violation.js";
import type { Books, Connection, Disk, Point, Steps, Stored } from "./disk.js";

/** Empty databases, each a copy of one that has been migrated once. */
export class SqliteDisks {
  readonly #folder: string;
  readonly #organizations: readonly OrganizationId[];
  #made = 0;

  private constructor(folder: string, organizations: readonly OrganizationId[]) {
    this.#folder = folder;
    this.#organizations = organizations;
  }

  static async open(organizations: readonly OrganizationId[]): Promise<SqliteDisks> {
    const disks = new SqliteDisks(mkdtempSync(join(tmpdir(), "kesc-simulation-")), organizations);
    const database = await openDatabase({ engine: "sqlite", filename: disks.#template });
    try {
      await migrate(database);
      await execute(
        { engine: "sqlite", filename: disks.#template },
        ...organizations.flatMap((id) => [
          `INSERT INTO organizations (id, name, created_at) VALUES ('${id}', '${id}', 0)`,
          `INSERT INTO supply (organization_id, reserve_cents, available_cents, held_cents) VALUES ('${id}', 0, 0, 0)`,
        ]),
      );
    } finally {
      await database.close();
    }
    return disks;
  }

  make(): Disk {
    this.#made += 1;
    const filename = join(this.#folder, `${String(this.#made)}.db`);
    copyFileSync(this.#template, filename);
    return new SqliteDisk(filename, this.#organizations);
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #template(): string {
    return join(this.#folder, "template.db");
  }
}

/**
 * The service's own storage code on a file. A crash closes the connection in the middle of its
 * transaction.
 */
class SqliteDisk implements Disk {
  readonly racy = false;
  readonly #filename: string;

  constructor(
    filename: string,
    readonly organizations: readonly OrganizationId[],
  ) {
    this.#filename = filename;
  }

  open(): Connection {
    const connection = openSqliteForWriting(this.#filename);
    const transact = sqliteTransaction(connection, new SqliteStatements(connection));
    const close = (): void => {
      connection.close();
    };
    return { store: (steps) => storeInSteps(transact, steps), crash: close, close };
  }

  books(): Books {
    const connection = new BetterSqlite3(this.#filename, { readonly: true });
    try {
      return booksIn(connection);
    } finally {
      connection.close();
    }
  }

  /** Runs the check of `kesc verify`. */
  async verify(): Promise<void> {
    const database = await openDatabase({ engine: "sqlite", filename: this.#filename });
    try {
      const { firstFindings } = await verify(database);
      mustBe("what kesc verify finds", [], firstFindings);
    } finally {
      await database.close();
    }
  }

  dispose(): void {
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${this.#filename}${ending}`, { force: true });
  }
}

/** The ledger's store, which waits for its turn before each statement. */
function storeInSteps(transact: Transact, steps: Steps): LedgerStore {
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
  const store = ledgerStore(sqliteEngine, async (work) => {
    const result = await transact(async (session) => {
      const ready = await work(sessionInSteps(session));
      await steps.before("commit");
      return ready;
    });
    steps.committed();
    await steps.before("answer");
    return result;
  });
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
  readonly account_id: string;
  readonly transaction_id: string | null;
  readonly kind: string;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number;
  readonly held_after_cents: number;
  readonly actor: string;
  readonly reason: string;
  readonly recorded_at: number;
}

function booksIn(connection: BetterSqlite3.Database): Books {
  const all = <Row>(sql: string): Row[] => connection.prepare<[], Row>(sql).all();
  const [head] = all<{ last_seq: number }>("SELECT last_seq FROM journal_head");
  const supply = all<Supply & { id: OrganizationId }>(
    "SELECT organization_id AS id, reserve_cents AS reserve, available_cents AS available, held_cents AS held FROM supply",
  );
  return {
    accounts: all<AccountRow>("SELECT * FROM accounts ORDER BY seq").map((row) => ({
      ...accountOf(row),
      seq: row.seq,
    })),
    transactions: all<TransactionRow>("SELECT * FROM transactions ORDER BY seq").map((row) => ({
      ...transactionOf(row),
      seq: row.seq,
    })),
    journal: all<JournalRow>("SELECT * FROM journal ORDER BY seq").map(entryOf),
    lastSeq: head?.last_seq ?? 0,
    supply: new Map(supply.map(({ id, reserve, available, held }) => [id, { reserve, available, held }])),
    idempotencyKeys: all<UsedIdempotencyKey>(
      `SELECT organization_id AS "organizationId", key, resource_id AS "resourceId", created_at AS "createdAt" FROM idempotency_keys`,
    ),
  };
}

function entryOf(row: JournalRow): Stored<JournalEntry> {
  const { debit, credit, amount_cents: amountCents } = row;
  return {
    seq: row.seq,
    organizationId: row.organization_id,
    accountId: row.account_id,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    kind: row.kind,
    posting: debit === null ? undefined : ({ debit, credit, amountCents } as Posting),
    availableAfterCents: row.available_after_cents,
    heldAfterCents: row.held_after_cents,
    actor: row.actor,
    reason: row.reason,
    recordedAt: row.recorded_at,
  } as Stored<JournalEntry>;
}
