import { expect } from "chai";
import pg from "pg";

import type { TableName } from "../../../src/domain/decision.js";
import { postgresEngine } from "../../../src/storage/postgres/engine.js";
import { ledgerStatements } from "../../../src/storage/sql/ledger-statements.js";
import { execute } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { sharedPostgres } from "../../support/postgres.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";

// PostgreSQL checks a row again after it has waited for its lock, with the new version of the row.
// A statement that locks several rows must find all of them all the same. A row that it leaves out
// would be an account that "was not found".

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off";
const WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
const ACCOUNTS = ["acc_5", "acc_7", "acc_9"];
const { readsBeforeLock, lockedBooks } = ledgerStatements(postgresEngine("public"));
const readOf = (table: TableName): string => readsBeforeLock.find((read) => read.table === table)?.sql ?? "";

const CASES = [
  {
    name: "accounts",
    sql: readOf("accounts"),
    bindings: [ACCOUNTS, [], [], [], []],
    change: "UPDATE accounts SET available_cents = available_cents + 1",
    found: ACCOUNTS.length,
  },
  {
    name: "books",
    sql: lockedBooks,
    bindings: [[{ number: 1 }, { number: 2 }]],
    change: "UPDATE books SET last_recorded_at = last_recorded_at + 1",
    found: 2,
  },
  {
    name: "proposals",
    sql: readOf("proposals"),
    bindings: [["a", "b"]],
    change: "UPDATE proposals SET proposed_at = proposed_at + 1",
    found: 2,
  },
];

describe("the rows that a batch locks on PostgreSQL, after it has waited for another server", () => {
  let url: string;
  const clients: pg.Client[] = [];
  before(async () => {
    url = await (await sharedPostgres()).createDatabase();
    await withKeys(url, makeTenants);
    await execute(
      { engine: "postgres", url },
      `INSERT INTO accounts (book, seq, id, status, status_reason, available_cents, held_cents, open_payments, last_seq,
         created_at, updated_at, mac)
       SELECT 1, i, 'acc_' || i, 'ACTIVE', '', 0, 0, 0, i, 1, 1, repeat('0', 32) FROM generate_series(3, 600) i`,
      `INSERT INTO proposals (book, subject, content, person, proposed_at, id, seq, mac)
       SELECT 1, i, '', 'p', 1, i, 1, (SELECT mac FROM organizations LIMIT 1) FROM unnest(ARRAY['a', 'b']) i`,
    );
    for (let count = 0; count < 2; count += 1) {
      const client = new pg.Client(url);
      await client.connect();
      clients.push(client);
    }
  });
  after(async () => {
    for (const client of clients) await client.end();
  });

  for (const { name, sql, bindings, change, found } of CASES) {
    for (const statistics of ["without statistics", "with statistics"]) {
      it(`are all the ${name}, ${statistics}`, async () => {
        const [first, second] = clients;
        if (first === undefined || second === undefined) throw new Error("no connections");
        if (statistics === "with statistics") await first.query("ANALYZE");
        let parameters = 0;
        const text = sql.replaceAll("?", () => `$${String((parameters += 1))}`);
        const values = bindings.map((value) => JSON.stringify(value));
        const lock = async (client: pg.Client): Promise<number> => (await client.query(text, values)).rows.length;
        await first.query(BEGIN);
        expect(await lock(first)).to.equal(found);
        await first.query(change);
        await second.query(BEGIN);
        const waiting = lock(second);
        await eventually(async () => (await execute({ engine: "postgres", url }, WAITING)).length > 0);
        await first.query("COMMIT");
        expect(await waiting).to.equal(found);
        await second.query("COMMIT");
      });
    }
  }
});
