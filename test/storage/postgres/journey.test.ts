import { expect } from "chai";
import pg from "pg";

import { type SentStatement, travel } from "../../../src/storage/postgres/journey.js";
import { databaseOfSuite } from "../../support/databases.js";

describe("a journey to PostgreSQL", () => {
  const opened = databaseOfSuite("postgres");
  let client: pg.Client;
  let syncs = 0;

  beforeEach(async () => {
    client = await connected();
    syncs = 0;
    client.connection.on("readyForQuery", () => (syncs += 1));
  });
  afterEach(() => client.end());

  const connected = async (settings: pg.ClientConfig = {}): Promise<pg.Client> => {
    const connecting = new pg.Client({ connectionString: opened.url, pipeline: true, ...settings });
    // An error beside those of the journeys.
    connecting.on("error", () => undefined);
    await connecting.connect();
    return connecting;
  };
  const rowsOf = async (...statements: readonly SentStatement[]): Promise<readonly unknown[]> =>
    (await travel(client, statements)).map(({ rows }) => rows);
  const kept = async (): Promise<readonly unknown[]> => {
    const { rows } = await client.query<{ name: string }>("SELECT name FROM pg_prepared_statements");
    return rows.map(({ name }) => name);
  };
  const DOUBLED: SentStatement = { sql: "SELECT $1::int * 2 AS doubled", name: "doubled" };
  const DIVIDED: SentStatement = { sql: "SELECT 1 / $1::int AS divided", name: "divided" };

  it("brings back a result for each statement, all with one Sync", async () => {
    const results = await travel(client, [
      { sql: "BEGIN" },
      { sql: "CREATE TEMPORARY TABLE notes (text TEXT, bytes BYTEA)" },
      { sql: "INSERT INTO notes VALUES ($1, $2)", values: ["ü", Uint8Array.of(0, 255)] },
      { sql: "SELECT text, encode(bytes, 'hex') AS hex FROM notes" },
      { sql: "SELECT 1 AS one WHERE false" },
      { sql: "COMMIT" },
    ]);
    expect(results.map(({ command }) => command)).to.deep.equal([
      "BEGIN",
      "CREATE",
      "INSERT",
      "SELECT",
      "SELECT",
      "COMMIT",
    ]);
    expect(results.map(({ rows }) => rows)).to.deep.equal([[], [], [], [{ text: "ü", hex: "00ff" }], [], []]);
    expect(syncs).to.equal(1);
    expect(await rowsOf({ sql: "SELECT 1 AS one" })).to.deep.equal([[{ one: 1 }]]);
  });

  it("executes nothing behind a failure, and several journeys on the way do not mix", async () => {
    const failing = travel(client, [
      { sql: "CREATE TEMPORARY TABLE kept (id INT)" },
      { sql: "SELECT 1 / 0" },
      { sql: "COMMIT" },
    ]);
    const next = rowsOf({ sql: "SELECT to_regclass('kept') AS kept" }, { sql: "SELECT 2 AS two" });
    expect(await failing.catch(String)).to.match(/division by zero/);
    expect(await next).to.deep.equal([[{ kept: null }], [{ two: 2 }]]);
    expect(syncs).to.equal(2);
  });

  it("keeps the statements that have names, also where their first journey failed", async () => {
    const failing = travel(client, [
      { ...DOUBLED, values: [1] },
      { ...DIVIDED, values: [0] },
    ]);
    expect(await failing.catch(String)).to.match(/division by zero/);
    for (const value of [2, 3]) {
      const rows = await rowsOf(
        { ...DOUBLED, values: [value] },
        { ...DIVIDED, values: [1] },
        { ...DOUBLED, values: [1] },
      );
      expect(rows).to.deep.equal([[{ doubled: 2 * value }], [{ divided: 1 }], [{ doubled: 2 }]]);
    }
    expect(await kept()).to.have.members(["doubled", "divided"]);
    // It is not parsed again: the text does not count any more.
    expect(await rowsOf({ ...DOUBLED, sql: "SELECT nothing", values: [4] })).to.deep.equal([[{ doubled: 8 }]]);
  });

  it("ends where the connection does, or takes longer than the driver waits", async () => {
    expect(await travel(client, [{ sql: "SELECT pg_terminate_backend(pg_backend_pid())" }]).catch(String)).to.match(
      /terminat/,
    );
    const impatient = await connected({ query_timeout: 100 });
    expect(await travel(impatient, [{ sql: "SELECT pg_sleep(60)" }]).catch(String)).to.match(/timeout/);
    await impatient.end();
  });
});
