import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import pg from "pg";

import { MIGRATIONS } from "../../../src/storage/migrate.js";
import { takeMigrationLock, withConnection } from "../../../src/storage/postgres/administration.js";
import { grantTo, PowerfulRoleError, TABLE_NAMES } from "../../../src/storage/postgres/grants.js";
import { RestCaller } from "../../support/callers/rest-caller.js";
import { execute } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { withOneMoreMigration } from "../../support/one-more-migration.js";
import { sharedPostgres } from "../../support/postgres.js";
import {
  type Ended,
  environment,
  KESC,
  kesc,
  kescJson,
  kescProcess,
  Place,
  RunningKesc,
  type Variables,
} from "../../support/service/kesc.js";

interface OrganizationJson {
  readonly id: string;
  readonly cell: number;
}

/** Finds the sessions of a kesc in this database that wait for a lock. */
const BLOCKED = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'kesc' AND wait_event_type = 'Lock'`;

/** Runs statements at a URL, as an operator at the database would. */
function run<Row>(url: string, ...statements: readonly string[]): Promise<Row[]> {
  return execute({ engine: "postgres", url }, ...statements);
}

/** The same database for another user. */
function urlOf(url: string, role: string): string {
  const changed = new URL(url);
  changed.username = role;
  return changed.href;
}

async function twice(args: readonly string[], variables: Variables): Promise<readonly Ended[]> {
  return Promise.all([kescProcess(args, variables), kescProcess(args, variables)]);
}

describe("kesc migrate (sqlite)", () => {
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => {
    place.remove();
  });

  const WITHOUT_CHAIN = [
    "DROP TABLE operator_chain",
    "DROP TABLE operator_keys",
    "DELETE FROM knex_migrations WHERE name = '0001-first-release'",
  ];

  it("runs no migration a second time: a list that lacks one before the last is refused, and nobody is told to migrate", async () => {
    const { variables } = place;
    const later = { name: "0002-later", migration: () => ["CREATE TABLE later (id TEXT)"] };
    await withOneMoreMigration(later, async () => {
      expect(await kesc(["migrate"], variables)).to.include({ code: 0 });
      await execute({ engine: "sqlite", filename: place.databaseFile }, ...WITHOUT_CHAIN);
      for (const command of [["migrate", "--servers-stopped"], ["operator", "list"], ["verify"]]) {
        const { code, stderr } = await kesc(command, variables);
        expect(code, command.join(" ")).to.equal(command.includes("verify") ? 3 : 1);
        expect(stderr)
          .to.contain("has run migrations that come after 0001-first-release, and its list of migrations lacks that")
          .and.contain("restore a backup")
          .and.not.contain("Run: kesc migrate");
      }
      const { stdout } = await kesc(["doctor"], variables);
      expect(stdout).to.match(/^fail +schema .*lacks that.*restore a backup/m);
    });
  });

  it("makes no table anew if the whole list was taken away: operators whose chain is gone stay none", async () => {
    const { variables } = place;
    const address = { engine: "sqlite", filename: place.databaseFile } as const;
    expect(await kesc(["migrate"], variables)).to.include({ code: 0 });
    await execute(address, ...WITHOUT_CHAIN, "DELETE FROM knex_migrations");
    expect(await kesc(["migrate", "--servers-stopped"], variables)).to.include({ code: 1 });
    const made = "SELECT name FROM sqlite_schema WHERE name IN ('operator_chain', 'operator_keys')";
    expect(await execute(address, made)).to.deep.equal([]);
  });

  it("ends well when two run at once on a new database", async () => {
    const variables = { ...place.variables, KESC_MASTER_KEY_FILE: join(place.folder, "new", "master.key") };
    const ended = await twice(["migrate"], variables);
    expect(ended.map(({ code, stderr }) => `${String(code)}${stderr}`)).to.deep.equal(["0", "0"]);
    const migrated = ended.filter(({ stdout }) => stdout.includes("Migrated: 0001-first-release"));
    const created = ended.filter(({ stdout }) => stdout.includes("Created the master key file"));
    expect([migrated.length, created.length]).to.deep.equal([1, 1]);
    expect(await kescJson(["org", "list"], variables)).to.deep.equal([]);
  });

  it("has one cell and no roles", async () => {
    expect(await kesc(["migrate", "--cells", "1"], place.variables)).to.include({ code: 0 });
    const cells = await kesc(["migrate", "--cells", "2"], place.variables);
    expect(cells).to.include({
      code: 2,
      stderr:
        "--cells: an SQLite database has one cell, not 2. " +
        "Leave the option out, or set DATABASE_URL to a PostgreSQL database.\n",
    });
    const role = await kesc(["migrate", "--grant-to", "server"], place.variables);
    expect(role.code).to.equal(2);
    expect(role.stderr).to.match(/^--grant-to: an SQLite database has no roles\. /);
  });

  it("refuses a number of cells that is none from 1 to 64", async () => {
    const counts = ["0", "65", "two"];
    const ended = await Promise.all(counts.map((count) => kesc(["migrate", "--cells", count], place.variables)));
    for (const { code, stderr } of ended) {
      expect(code).to.equal(2);
      expect(stderr).to.contain("It must be a whole number from 1 to 64.");
    }
  });

  it("says that the only cell is the cell 0", async () => {
    await kesc(["migrate"], place.variables);
    const { code, stderr } = await kesc(["org", "create", "--name", "A", "--cell", "1"], place.variables);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^There is no such cell: the database has 1, numbered from 0\. To add cells on PostgreSQL: kesc /,
    );
  });
});

describe("kesc migrate --cells (postgres)", () => {
  let place: Place;
  let variables: Variables;
  beforeEach(async () => {
    place = new Place();
    variables = { ...place.variables, DATABASE_URL: await (await sharedPostgres()).createDatabase() };
  });
  afterEach(() => {
    place.remove();
  });

  const migrate = (...args: string[]): Promise<Ended> => kesc(["migrate", ...args], variables);
  const createOrganization = (...args: string[]): Promise<OrganizationJson> =>
    kescJson(["org", "create", "--name", "Duka", ...args], variables);

  it("makes several cells, when two run at once, too", async () => {
    const ended = await twice(["migrate", "--cells", "3"], variables);
    expect(ended.map(({ code, stderr }) => `${String(code)}${stderr}`)).to.deep.equal(["0", "0"]);
    const created = ended.filter(({ stdout }) => stdout.includes("Created the schemas kesc_0 to kesc_2."));
    expect(created).to.have.length(1);
    expect(await migrate()).to.include({ code: 0, stdout: "The database is up to date.\n" });

    const cells = [await createOrganization(), await createOrganization(), await createOrganization()];
    expect(cells.map(({ cell }) => cell)).to.deep.equal([0, 1, 2]);
    expect((await createOrganization("--cell", "1")).cell).to.equal(1);
  });

  it("adds cells, and leaves the organizations where they are", async () => {
    await migrate("--cells", "2");
    const before = [await createOrganization("--cell", "0"), await createOrganization("--cell", "1")];
    const { code, stdout } = await migrate("--cells", "3");
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^Created the schema kesc_2\.\nServers find new cells when they start: .*\nMigrated: 0001-/,
    );

    const added = await createOrganization();
    expect(added.cell).to.equal(2);
    expect(await kescJson(["org", "list"], variables)).to.deep.equal([...before, added]);
    expect((await kesc(["org", "list"], variables)).stdout).to.match(
      / CELL +NAME\n.* 0 +Duka\n.* 1 +Duka\n.* 2 +Duka\n$/,
    );
    expect(await kescJson(["verify"], variables)).to.deep.nested.include({ holds: true, "coverage.organizations": 3 });
  });

  it("refuses fewer cells than there are, and a cell that does not exist", async () => {
    await migrate("--cells", "2");
    expect(await migrate("--cells", "1")).to.include({
      code: 1,
      stderr:
        "--cells 1: the database already has 2 cells, and a cell cannot be removed. " +
        "Leave the option out, or give 2 to 64.\n",
    });
    const { code, stderr } = await kesc(["org", "create", "--name", "A", "--cell", "2"], variables);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^There is no such cell: the database has 2, numbered from 0\. To add cells on PostgreSQL: kesc /,
    );
  });

  it("keeps one cell in the schema public, for ever", async () => {
    expect(await migrate("--cells", "1")).to.include({ code: 0 });
    expect(await createOrganization()).to.include({ cell: 0 });
    expect((await kesc(["org", "list"], variables)).stdout).to.not.contain("CELL");
    const { code, stderr } = await migrate("--cells", "2");
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "--cells 2: this database has its tables in the schema public, so it stays one cell. " +
        "Leave the option out, or run this command on a new database.\n",
    );
    expect(await migrate("--cells", "1")).to.include({ code: 0, stdout: "The database is up to date.\n" });
  });

  it("goes on after a kesc migrate that was killed in the middle", async () => {
    const url = variables["DATABASE_URL"] ?? "";
    const blocker = new pg.Client(url);
    await blocker.connect();
    try {
      // The migration waits where it creates a table of this name.
      await blocker.query("BEGIN; CREATE TABLE journal ()");
      const killed = spawn(process.execPath, [KESC, "migrate"], { env: environment(variables), stdio: "ignore" });
      await eventually(async () => (await run(url, BLOCKED)).length > 0, { millisMax: 20_000 });
      killed.kill("SIGKILL");
      await once(killed, "exit");
    } finally {
      await blocker.end();
    }
    expect(await migrate()).to.include({ code: 0 });
    expect(await kescJson(["org", "list"], variables)).to.deep.equal([]);
  });

  it("goes on where the lock of Knex was left locked", async () => {
    await migrate();
    await run(variables["DATABASE_URL"] ?? "", "UPDATE knex_migrations_lock SET is_locked = 1");
    expect(await migrate()).to.include({ code: 0, stdout: "The database is up to date.\n" });
  });

  it("says which process holds the lock for long, and how to end it", async () => {
    const url = variables["DATABASE_URL"] ?? "";
    const stuck = await takeMigrationLock(url, () => undefined);
    const waiting = migrate();
    await eventually(async () => (await run(url, BLOCKED)).length > 0, { millisMax: 20_000 });
    const [holder] = await run<{ pid: number }>(
      url,
      `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database
       WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
    );
    const pid = String(holder?.pid);
    await run(url, `SELECT pg_terminate_backend(${pid})`);
    const { code, stdout } = await waiting;
    await stuck();
    expect(code).to.equal(0);
    expect(stdout).to.match(
      new RegExp(
        `^Waiting for another kesc migrate…\nPostgreSQL's process ${pid} holds the lock ` +
          String.raw`\(kesc, connected since [^)]*Z\)\. If no kesc migrate runs any more, end it: ` +
          String.raw`SELECT pg_terminate_backend\(${pid}\)\n`,
      ),
    );
  });

  it("makes several cells beside the tables of another program", async () => {
    await run(variables["DATABASE_URL"] ?? "", "CREATE TABLE public.books (title TEXT)");
    expect(await migrate("--cells", "2")).to.include({ code: 0 });
  });

  it("creates no table in a database that another command opens", async () => {
    const { code, stderr } = await kesc(["org", "list"], variables);
    expect(code).to.equal(1);
    expect(stderr).to.contain(`lacks the migrations ${Object.keys(MIGRATIONS).join(", ")}. Run: kesc migrate\n`);
    const sql = "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    expect(await run(variables["DATABASE_URL"] ?? "", sql)).to.deep.equal([]);
  });
});

/** The tables from which a server removes rows. */
const SHRINKING: readonly string[] = [
  "webhook_retries",
  "webhook_log",
  "payout_parts",
  "payout_lists",
  "passkeys",
  "sessions",
  "sign_in_tokens",
];

/** Statements that a server must not be able to run. */
function guarded(home: string): string[] {
  const journal = `${home}.journal`;
  return [
    `UPDATE ${journal} SET reason = 'x'`,
    `DELETE FROM ${journal}`,
    `TRUNCATE ${journal}`,
    `DROP TRIGGER journal_refuses_change ON ${journal}`,
    `ALTER TABLE ${journal} DISABLE TRIGGER ALL`,
    `ALTER TABLE ${journal} DROP COLUMN reason`,
    `ALTER TABLE ${journal} OWNER TO CURRENT_USER`,
    `CREATE TRIGGER t BEFORE INSERT ON ${journal} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    `CREATE OR REPLACE FUNCTION ${journal}_refuses_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    `DROP TABLE ${journal}`,
    `CREATE TABLE ${home}.mine (x INT)`,
    "CREATE SCHEMA kesc_9",
    "SET session_replication_role = 'replica'",
    ...TABLE_NAMES.filter((table) => !SHRINKING.includes(table)).map((table) => `DELETE FROM ${home}.${table}`),
    ...TABLE_NAMES.map((table) => `TRUNCATE ${home}.${table} CASCADE`),
    `UPDATE ${home}.book_keys SET master_key_id = 'x'`,
    `UPDATE ${home}.transactions SET amount_cents = 1`,
    `UPDATE ${home}.accounts SET book = 1`,
    `UPDATE ${home}.api_keys SET scopes = 'x'`,
    `UPDATE ${home}.payments SET rail_account_id = 'x'`,
    `UPDATE ${home}.rail_accounts SET organization_id = 'x'`,
    `UPDATE ${home}.rail_messages SET body_masked = 'x'`,
    `UPDATE ${home}.sessions SET operator_id = 'x'`,
    `UPDATE ${home}.knex_migrations_lock SET is_locked = 1`,
  ];
}

describe("kesc migrate --grant-to (postgres)", () => {
  // A name that must be quoted.
  const ROLE = 'server; "x"';
  const QUOTED_ROLE = '"server; ""x"""';
  const OWNER = "owner_of_cells";
  const OTHER = "other_of_cells";
  const SCHEMAS = ["kesc_0", "kesc_1"];
  let place: Place;
  let adminUrl: string;
  let owner: Variables;
  let server: Variables;
  let organization: OrganizationJson;
  let key: string;

  before(async () => {
    place = new Place();
    adminUrl = await (await sharedPostgres()).createDatabase();
    for (const role of [OWNER, OTHER, QUOTED_ROLE]) await run(adminUrl, `CREATE ROLE ${role} LOGIN`);
    await own(adminUrl);
    owner = { ...place.variables, DATABASE_URL: urlOf(adminUrl, OWNER) };
    server = { ...place.variables, DATABASE_URL: urlOf(adminUrl, ROLE) };
  });
  after(() => {
    place.remove();
  });

  /** Gives the database to the owner of the tables. */
  async function own(url: string): Promise<void> {
    await run(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${OWNER}`);
  }

  async function expectRefused(variables: Variables, statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      const error: unknown = await run(variables["DATABASE_URL"] ?? "", statement).catch((thrown: unknown) => thrown);
      expect(error, statement).to.include({ code: "42501" });
    }
  }

  const grant = (role: string): Promise<Ended> => kesc(["migrate", "--cells", "2", "--grant-to", role], owner);

  it("tells a role without rights what to do", async () => {
    expect((await kesc(["migrate", "--cells", "2"], owner)).code).to.equal(0);
    const { code, stderr } = await kesc(["org", "list"], server);
    expect(code).to.equal(1);
    expect(stderr).to.match(/permission denied for .*kesc migrate --grant-to ROLE/);
  });

  it("gives the rights, twice", async () => {
    for (let time = 0; time < 2; time += 1) {
      expect(await grant(ROLE)).to.include({
        code: 0,
        stdout:
          "The database is up to date.\n" +
          `The role ${ROLE} may run servers. It can add rows to the journal, but not change them.\n`,
      });
    }
  });

  it("knows every table", async () => {
    const rows = await run<{ name: string }>(
      adminUrl,
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'kesc_0' AND tablename NOT LIKE 'knex%'",
    );
    expect(rows.map((row) => row.name)).to.have.members(TABLE_NAMES);
  });

  it("lets the role create an organization and a key, and serve all calls", async () => {
    organization = await kescJson(["org", "create", "--name", "Duka"], server);
    ({ secret: key } = await kescJson<{ secret: string }>(
      ["key", "create", "--org", "Duka", "--name", "till", "--all-scopes", "--never-expires"],
      server,
    ));
    const serve = new RunningKesc(["serve"], server);
    const rest = new RestCaller((await serve.ready).address, { key });
    const post = (path: string, body: object): ReturnType<RestCaller["send"]> => rest.send("POST", path, { body });
    try {
      const person = { user_id: "amina", phone_number: "0712345678" };
      const { json } = await post("/accounts", person);
      const accountId = String(json["id"]);
      for (const reference of ["mint", "redeem"] as const) {
        const moved = await post(`/transactions/${reference}`, { account_id: accountId, amount: 5, reference });
        expect(moved.status).to.equal(201);
      }
      const frozen = await post(`/accounts/${accountId}/freeze`, { reason: "fraud" });
      expect(frozen.status).to.equal(200);
      const { id: freeze_id } = frozen.json["freeze"] as { readonly id: string };
      expect((await post(`/accounts/${accountId}/unfreeze`, { freeze_id })).status).to.equal(200);

      const erase = ["account", "erase", accountId, "--org", organization.id, "--note", "request", "--yes"];
      expect(await kesc(erase, server)).to.include({ code: 0 });
      const vacuum = await kesc(["account", "vacuum"], server);
      expect(vacuum.code).to.equal(1);
      expect(vacuum.stderr).to.match(/^The old bytes are still in .*: only its owner may vacuum it\. /);
      expect(await kesc(["account", "vacuum"], owner)).to.include({ code: 0 });

      expect((await post("/accounts", person)).status).to.equal(201);
      expect((await kesc(["account", "export", accountId, "--org", "Duka"], server)).code).to.equal(0);
      expect((await post(`/accounts/${accountId}/close`, { note: "test" })).status).to.equal(200);
    } finally {
      expect(await serve.end()).to.equal(0);
      rest.close();
    }
    const [listed] = await kescJson<{ id: string; last_used_at: string | null }[]>(
      ["key", "list", "--org", "Duka"],
      server,
    );
    expect(listed?.last_used_at).to.be.a("string");
    for (const args of [
      ["suspend", "Duka", "--yes"],
      ["resume", "Duka"],
    ]) {
      expect((await kesc(["org", ...args, "--note", "test"], server)).code).to.equal(0);
    }
    expect((await kesc(["key", "revoke", listed?.id ?? ""], server)).code).to.equal(0);
    expect(await kescJson(["verify"], server)).to.deep.nested.include({
      holds: true,
      "coverage.accounts": 2,
      "coverage.transactions": 2,
    });
  });

  it("lets the role keep the schedule of payments and rail messages, the leases and the sessions", async () => {
    const url = server["DATABASE_URL"] ?? "";
    for (const schema of SCHEMAS) {
      await run(
        url,
        `UPDATE ${schema}.payments SET due_at = 1, checks = 1, advances = 1, last_code = 'x', status_question = transaction_id`,
      );
      await run(url, `UPDATE ${schema}.rail_messages SET due_at = NULL, tries = 1`);
      await run(url, `UPDATE ${schema}.rail_accounts SET payouts = 'closed', balance = '{}', balance_at = 1`);
      await run(url, `UPDATE ${schema}.leases SET holder = 'x', until = 1, fence = 2`);
      await run(url, `UPDATE ${schema}.sessions SET used_at = 1, verified_at = 1, mac = mac`);
      for (const table of SHRINKING) await run(url, `DELETE FROM ${schema}.${table}`);
    }
  });

  it("lets the role neither change nor remove the journal, nor its guards, nor a row of another table", async () => {
    await expectRefused(server, SCHEMAS.flatMap(guarded));
  });

  it("does the same for one cell in the schema public", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    await own(url);
    const one = { ...owner, DATABASE_URL: urlOf(url, OWNER) };
    const served = { ...server, DATABASE_URL: urlOf(url, ROLE) };
    expect((await kesc(["migrate", "--grant-to", ROLE], one)).code).to.equal(0);
    await kescJson(["org", "create", "--name", "Duka"], served);
    await expectRefused(served, guarded("public"));
  });

  it("does not let the role migrate, purge, rotate master keys or mark books as restored, and says who may", async () => {
    const before = readFileSync(place.masterKeyFile, "utf8");
    for (const args of [["migrate"], ["purge"], ["master-key", "rotate"], ["restore", "--in-place", "--yes"]]) {
      const { code, stderr } = await kesc(args, server);
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^The database refused: permission denied for table .*Use the role that owns the tables\./,
      );
    }
    expect(readFileSync(place.masterKeyFile, "utf8")).to.equal(before);
  });

  it("refuses a role that does not exist, and one that could change the journal all the same", async () => {
    expect(await grant("nobody")).to.include({
      code: 1,
      stderr: "--grant-to: there is no role nobody. Create it first: CREATE ROLE … LOGIN.\n",
    });
    const superuser = await grant("kesc");
    expect(superuser).to.include({
      code: 1,
      stderr:
        "--grant-to: the role kesc could change the books: it is a superuser. " +
        "Take that from it, or create a role for the servers: CREATE ROLE … LOGIN. No right was changed.\n",
    });
    const ownerUrl = owner["DATABASE_URL"] ?? "";
    const refusal = (role: string): Promise<unknown> =>
      withConnection(ownerUrl, (client) => grantTo(client, SCHEMAS, role)).catch((error: unknown) => error);
    expect(await refusal(OWNER)).to.be.instanceOf(PowerfulRoleError);
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [`GRANT ${OWNER} TO ${OTHER}`, `REVOKE ${OWNER} FROM ${OTHER}`, /^it owns \S+ as a member of owner_of_.* more$/],
      [`ALTER ROLE ${OTHER} CREATEROLE`, `ALTER ROLE ${OTHER} NOCREATEROLE`, /^it may create roles$/],
      [
        "GRANT DELETE ON kesc_1.journal TO PUBLIC",
        "REVOKE DELETE ON kesc_1.journal FROM PUBLIC",
        /^it has DELETE on \S+\.journal$/,
      ],
      [
        "GRANT UPDATE (kind) ON kesc_1.journal TO PUBLIC",
        "REVOKE UPDATE (kind) ON kesc_1.journal FROM PUBLIC",
        /^it has UPDATE on \S+\.journal$/,
      ],
      [
        "GRANT CREATE ON SCHEMA kesc_1 TO PUBLIC",
        "REVOKE CREATE ON SCHEMA kesc_1 FROM PUBLIC",
        /^it has CREATE on the schema \S+$/,
      ],
    ];
    for (const [give, take, says] of cases) {
      await run(adminUrl, give);
      const error = await refusal(OTHER);
      await run(adminUrl, take);
      expect(error, give).to.be.instanceOf(PowerfulRoleError);
      expect((error as Error).message).to.match(says);
    }
  });

  it("takes rights that the role has had by itself", async () => {
    await run(
      adminUrl,
      `GRANT UPDATE (kind), DELETE ON kesc_1.journal TO ${OTHER}`,
      `GRANT CREATE ON SCHEMA kesc_1 TO ${OTHER}`,
    );
    expect((await grant(OTHER)).code).to.equal(0);
    const sql = `
        SELECT has_any_column_privilege('${OTHER}', 'kesc_1.journal', 'UPDATE') AS updates,
          has_table_privilege('${OTHER}', 'kesc_1.journal', 'DELETE') AS deletes,
          has_schema_privilege('${OTHER}', 'kesc_1', 'CREATE') AS creates`;
    expect(await run(adminUrl, sql)).to.deep.equal([{ updates: false, deletes: false, creates: false }]);
  });
});
