import { expect } from "chai";
import pg from "pg";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import { type Cell, type Database, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { verify } from "../../../src/verify/verify.js";
import {
  databaseOfSuite,
  execute,
  openDatabaseAt,
  openTestDatabase,
  type TestDatabase,
} from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { findingsIn } from "../../support/findings.js";
import { NO_DEADLINE } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint, redeem } from "../../support/operations/transactions.js";

const SERVERS = 2;
const ACCOUNTS = 4;
const ROUNDS = 40;
const CALLS_IN_A_ROUND = 16;
const CALLS = SERVERS * ROUNDS * CALLS_IN_A_ROUND;

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());

/** Opens the database as a role that has its own settings. */
async function openAs(role: string, opened: TestDatabase, settings: readonly string[]): Promise<Database> {
  await execute(
    opened.address,
    `CREATE ROLE ${role} LOGIN SUPERUSER`,
    ...settings.map((setting) => `ALTER ROLE ${role} SET ${setting}`),
  );
  const url = new URL(opened.url);
  url.username = role;
  return openDatabaseAt(url.href);
}

/** Reads settings inside a transaction of the service. */
async function settingsIn(cell: Cell, ...names: readonly string[]): Promise<readonly unknown[]> {
  const sql = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`;
  const rows = await cell.transact((session) => session.read({ sql, bindings: [] }));
  return Object.values(rows[0] as Readonly<Record<string, unknown>>);
}

describe("two servers on PostgreSQL, which want the same accounts all the time", () => {
  for (const isolation of ["read committed", "repeatable read", "serializable"]) {
    it(`lose no call where the role has the isolation level ${isolation}`, async () => {
      const opened = await openTestDatabase("postgres");
      const role = `role_${isolation.replace(" ", "_")}`;
      const first = await openAs(role, opened, [`default_transaction_isolation = '${isolation}'`]);
      const url = new URL(opened.url);
      url.username = role;
      const second = await openDatabaseAt(url.href);
      try {
        const organizationId = (await keys(first, now).createOrganization("contended")).id;
        const refused: string[] = [];
        const ledgers = [first, second].map(
          ({ cells: [cell] }) =>
            new Ledger({
              committer: cell.committer,
              now,
              batchMax: 8,
              queueMax: 1_000,
              onStoreError: ({ kind, cause }) => refused.push(`${kind}: ${String(cause)}`),
            }),
        );
        await contend(ledgers, organizationId);
        expect(refused).to.deep.equal([]);
        const { coverage } = await verify(opened.database);
        expect(coverage.transactions).to.equal(CALLS + ACCOUNTS);
        expect(await findingsIn(opened.database)).to.deep.equal([]);
      } finally {
        await first.close();
        await second.close();
        await opened.dispose();
      }
    });
  }

  /** Redeems from all accounts over all ledgers at once. Every call can succeed. */
  async function contend(ledgers: readonly Ledger[], organizationId: OrganizationId): Promise<void> {
    const accounts = Array.from({ length: ACCOUNTS }, (_, index) =>
      createAccount(organizationId, `user${String(index)}`),
    );
    for (const [index, account] of accounts.entries()) {
      await ledgers[0]?.submit(account, NO_DEADLINE);
      const reference = `first${String(index)}`;
      const movement = { organizationId, accountId: account.newAccountId, amount: "100000.00", reference };
      await ledgers[0]?.submit(mint(movement), NO_DEADLINE);
    }
    await Promise.all(
      ledgers.map(async (ledger, server) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const calls = Array.from({ length: CALLS_IN_A_ROUND }, (_, index) => {
            // The servers take the accounts in opposite orders.
            const account = accounts.at((server === 0 ? index : -1 - index) % ACCOUNTS);
            if (account === undefined) throw new Error("there is no account");
            const reference = `${String(server)} ${String(round)} ${String(index)}`;
            return redeem({ organizationId, accountId: account.newAccountId, amount: "1.00", reference });
          });
          await Promise.all(calls.map((command) => ledger.submit(command, NO_DEADLINE)));
        }
        await ledger.close();
      }),
    );
  }
});

describe("a transaction on PostgreSQL, where the role has other settings", () => {
  const opened = databaseOfSuite("postgres");

  it("makes its commits durable, writes, and keeps to the limits of the server", async () => {
    const database = await openAs("role_hasty", opened, [
      "synchronous_commit = off",
      "default_transaction_isolation = 'serializable'",
      "statement_timeout = '1h'",
      "idle_in_transaction_session_timeout = 0",
    ]);
    try {
      const found = await settingsIn(
        database.cells[0],
        "synchronous_commit",
        "transaction_isolation",
        "transaction_read_only",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
      );
      expect(found).to.deep.equal(["on", "read committed", "off", "10s", "10s"]);
    } finally {
      await database.close();
    }
  });

  it("looks every row up along an index, also in a new database without statistics", async () => {
    const database = await openDatabaseAt(opened.url);
    const { id: organizationId } = await keys(database, now).createOrganization("new");
    const account = createAccount(organizationId, "user");
    const [{ committer }] = database.cells;
    await committer.commit([account], now());
    const movement = { organizationId, accountId: account.newAccountId, amount: "1.00" };
    const mints = Array.from({ length: 50 }, (_, index) => mint({ ...movement, reference: `mint ${String(index)}` }));
    await committer.commit(mints, now());
    // A session writes its statistics at its end.
    await database.close();
    const tables = ["accounts", "account_holders", "books", "book_keys", "idempotency_keys", "transactions"];
    const sql = `SELECT relname AS name, seq_scan, idx_scan FROM pg_stat_user_tables
      WHERE relname IN (${tables.map((name) => `'${name}'`).join(", ")})`;
    const statistics = (): Promise<{ name: string; seq_scan: string; idx_scan: string }[]> =>
      execute(opened.address, sql);
    await eventually(async () => (await statistics()).some(({ idx_scan: lookups }) => Number(lookups) >= mints.length));
    const scanned = (await statistics()).filter(({ seq_scan: scans }) => Number(scans) > 0);
    expect(scanned.map(({ name }) => name)).to.deep.equal([]);
  });

  it("keeps to the limits in the URL, which an operator may set", async () => {
    const limits = "statement_timeout=4000&idle_in_transaction_session_timeout=3000";
    const database = await openDatabaseAt(`${opened.url}?${limits}`);
    try {
      const found = await settingsIn(database.cells[0], "statement_timeout", "idle_in_transaction_session_timeout");
      expect(found).to.deep.equal(["4s", "3s"]);
    } finally {
      await database.close();
    }
  });

  it("has no limit where the work takes long, whatever the role and the URL say", async () => {
    const { address } = opened;
    if (address.engine !== "postgres") throw new Error("the database is not PostgreSQL");
    await execute(
      address,
      "CREATE ROLE role_limited LOGIN SUPERUSER",
      "ALTER ROLE role_limited SET statement_timeout = '500ms'",
    );
    const url = new URL(`${opened.url}?statement_timeout=500&query_timeout=600`);
    url.username = "role_limited";
    const database = await openDatabase({ ...address, url: url.href }, { statementMillisMax: 0 });
    try {
      const [cell] = database.cells;
      const slow = "SELECT pg_sleep(0.7)";
      await cell.transact((session) => session.read({ sql: slow, bindings: [] }));
      await cell.reader.snapshot((snapshot) => snapshot.rows(slow).next());
    } finally {
      await database.close();
    }
  });

  it("loses a race, and no more, where another session holds a lock for longer than lock_timeout", async () => {
    const database = await openAs("role_impatient", opened, ["lock_timeout = '20ms'"]);
    const holder = new pg.Client(opened.url);
    await holder.connect();
    try {
      const { id } = await keys(opened.database, now).createOrganization("locked");
      const [cell] = database.cells;
      await holder.query("BEGIN; SELECT * FROM books FOR UPDATE");
      const failure: unknown = await cell.committer.commit([createAccount(id, "user")], now()).catch((e: unknown) => e);
      expect(failure).to.include({ kind: "conflict" });
      await holder.query("ROLLBACK");
      const results = await cell.committer.commit([createAccount(id, "user")], now());
      expect(results.map(({ kind }) => kind)).to.deep.equal(["done"]);
    } finally {
      await holder.end();
      await database.close();
    }
  });
});
