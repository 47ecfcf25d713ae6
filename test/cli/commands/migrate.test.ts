import { expect } from "chai";

import { withConnection } from "../../../src/storage/postgres/administration.js";
import { grantTo, PowerfulRoleError, TABLE_NAMES } from "../../../src/storage/postgres/grants.js";
import { RestCaller } from "../../support/callers/rest-caller.js";
import { execute } from "../../support/databases.js";
import { sharedPostgres } from "../../support/postgres.js";
import { type Ended, kesc, kescJson, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";

interface OrganizationJson {
  readonly id: string;
  readonly cell: number;
}

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
  return Promise.all([kesc(args, variables), kesc(args, variables)]);
}

describe("kesc migrate (sqlite)", () => {
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => {
    place.remove();
  });

  it("ends well when two run at once on a new database", async () => {
    const variables = { ...place.variables, KESC_MASTER_KEY_FILE: `${place.masterKeyFile}.new` };
    const ended = await twice(["migrate"], variables);
    expect(ended.map(({ code, stderr }) => `${String(code)}${stderr}`)).to.deep.equal(["0", "0"]);
    const migrated = ended.filter(({ stdout }) => stdout.includes("Migrated: 0001-organizations"));
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

  for (const count of ["0", "65", "two"]) {
    it(`refuses ${count} cells`, async () => {
      const { code, stderr } = await kesc(["migrate", "--cells", count], place.variables);
      expect(code).to.equal(2);
      expect(stderr).to.contain("It must be a whole number from 1 to 64.");
    });
  }

  it("says that the only cell is the cell 0", async () => {
    await kesc(["migrate"], place.variables);
    const { code, stderr } = await kesc(["org", "create", "--name", "A", "--cell", "1"], place.variables);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^There is no cell 1: the database has only the cell 0\. /);
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
    expect(stderr).to.match(/^There is no cell 2: the database has the cells 0 to 1\. /);
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

  it("makes several cells beside the tables of another program", async () => {
    await run(variables["DATABASE_URL"] ?? "", "CREATE TABLE public.books (title TEXT)");
    expect(await migrate("--cells", "2")).to.include({ code: 0 });
  });

  it("creates no table in a database that another command opens", async () => {
    const { code, stderr } = await kesc(["org", "list"], variables);
    expect(code).to.equal(1);
    expect(stderr).to.match(/lacks the migrations 0001-organizations, .*Run: npx kesc migrate\n/);
    const sql = "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    expect(await run(variables["DATABASE_URL"] ?? "", sql)).to.deep.equal([]);
  });
});

// Each schema for itself: one cell in `public`, and several cells.
for (const [name, cells, schema] of [
  ["one cell", [], "public"],
  ["two cells", ["--cells", "2"], "kesc_1"],
] as const) {
  describe(`kesc migrate --grant-to (postgres, ${name})`, () => {
    // A name that must be quoted.
    const ROLE = `server of ${schema}; "x"`;
    const OWNER = `owner_of_${schema}`;
    let place: Place;
    let adminUrl: string;
    let owner: Variables;
    let server: Variables;
    let organization: OrganizationJson;
    let key: string;

    before(async () => {
      place = new Place();
      adminUrl = await (await sharedPostgres()).createDatabase();
      const quoted = `"${ROLE.replaceAll('"', '""')}"`;
      await run(adminUrl, `CREATE ROLE ${OWNER} LOGIN`, `CREATE ROLE ${quoted} LOGIN`);
      await run(adminUrl, `ALTER DATABASE ${new URL(adminUrl).pathname.slice(1)} OWNER TO ${OWNER}`);
      owner = { ...place.variables, DATABASE_URL: urlOf(adminUrl, OWNER) };
      server = { ...place.variables, DATABASE_URL: urlOf(adminUrl, ROLE) };
    });
    after(async () => {
      await run(adminUrl, `ALTER DATABASE ${new URL(adminUrl).pathname.slice(1)} OWNER TO kesc`);
      place.remove();
    });

    const grant = (role: string): Promise<Ended> => kesc(["migrate", ...cells, "--grant-to", role], owner);

    it("tells a role without rights what to do", async () => {
      expect((await kesc(["migrate", ...cells], owner)).code).to.equal(0);
      const { code, stderr } = await kesc(["org", "list"], server);
      expect(code).to.equal(1);
      expect(stderr).to.match(/permission denied for .*npx kesc migrate --grant-to ROLE/);
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
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT LIKE 'knex%'`,
      );
      expect(rows.map((row) => row.name)).to.have.members(TABLE_NAMES);
    });

    it("lets the role create an organization and a key, and serve all calls", async () => {
      organization = await kescJson(["org", "create", "--name", "Duka"], server);
      ({ key } = await kescJson<{ key: string }>(["key", "create", "--org", "Duka", "--name", "till"], server));
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
        const reason = { reason: "test" };
        expect((await post(`/accounts/${accountId}/freeze`, reason)).status).to.equal(200);
        expect((await post(`/accounts/${accountId}/unfreeze`, reason)).status).to.equal(200);

        const erase = ["account", "erase", accountId, "--org", organization.id, "--reason", "request", "--yes"];
        expect(await kesc(erase, server)).to.include({ code: 0 });
        const vacuum = await kesc([...erase, "--vacuum"], server);
        expect(vacuum.code).to.equal(1);
        expect(vacuum.stderr).to.match(/^The data is erased, .*: only its owner may vacuum it\. /);
        expect(await kesc([...erase, "--vacuum"], owner)).to.include({ code: 0 });

        expect((await post("/accounts", person)).status).to.equal(201);
        expect((await kesc(["account", "export", accountId, "--org", "Duka"], server)).code).to.equal(0);
        expect((await post(`/accounts/${accountId}/close`, reason)).status).to.equal(200);
      } finally {
        expect(await serve.end()).to.equal(0);
        rest.close();
      }
      const [listed] = await kescJson<{ id: string }[]>(["key", "list", "--org", "Duka"], server);
      expect((await kesc(["key", "revoke", listed?.id ?? ""], server)).code).to.equal(0);
      expect(await kescJson(["verify"], server)).to.deep.nested.include({
        holds: true,
        "coverage.accounts": 2,
        "coverage.transactions": 2,
      });
    });

    it("lets the role neither change nor remove the journal, nor its guards, nor a row of another table", async () => {
      const home = schema === "public" ? schema : `kesc_${String(organization.cell)}`;
      const journal = `${home}.journal`;
      const statements = [
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
        ...TABLE_NAMES.map((table) => `DELETE FROM ${home}.${table}`),
        ...TABLE_NAMES.map((table) => `TRUNCATE ${home}.${table} CASCADE`),
        `UPDATE ${home}.book_keys SET master_key_id = 'x'`,
        `UPDATE ${home}.transactions SET amount_cents = 1`,
        `UPDATE ${home}.accounts SET book = 1`,
        `UPDATE ${home}.api_keys SET scopes = 'x'`,
        `UPDATE ${home}.knex_migrations_lock SET is_locked = 1`,
      ];
      for (const statement of statements) {
        const error: unknown = await run(server["DATABASE_URL"] ?? "", statement).catch((thrown: unknown) => thrown);
        expect(error, statement).to.include({ code: "42501" });
      }
    });

    it("does not let the role migrate or rotate master keys, and says who may", async () => {
      for (const args of [["migrate"], ["master-key", "rotate"]]) {
        const { code, stderr } = await kesc(args, server);
        expect(code).to.equal(1);
        expect(stderr).to.match(
          /^The database refused: permission denied for table .*Use the role that owns the tables\./,
        );
      }
    });

    it("refuses a role that does not exist, and one that could change the journal all the same", async () => {
      expect(await grant("nobody")).to.include({
        code: 1,
        stderr: "--grant-to: there is no role nobody. Create it first: CREATE ROLE … LOGIN.\n",
      });
      const other = `other_of_${schema}`;
      await run(adminUrl, `CREATE ROLE ${other} LOGIN`);
      const superuser = await grant("kesc");
      expect(superuser).to.include({
        code: 1,
        stderr:
          "--grant-to: the role kesc could change the books: it is a superuser. " +
          "Take that from it, or create a role for the servers: CREATE ROLE … LOGIN. No right was changed.\n",
      });
      const ownerUrl = owner["DATABASE_URL"] ?? "";
      const refusal = (role: string): Promise<unknown> =>
        withConnection(ownerUrl, (client) => grantTo(client, [schema], role)).catch((error: unknown) => error);
      expect(await refusal(OWNER)).to.be.instanceOf(PowerfulRoleError);
      const cases: readonly (readonly [string, string, RegExp])[] = [
        [
          `GRANT ${OWNER} TO ${other}`,
          `REVOKE ${OWNER} FROM ${other}`,
          /^it owns \S+ as a member of owner_of_.* more$/,
        ],
        [`ALTER ROLE ${other} CREATEROLE`, `ALTER ROLE ${other} NOCREATEROLE`, /^it may create roles$/],
        [
          `GRANT DELETE ON ${schema}.journal TO PUBLIC`,
          `REVOKE DELETE ON ${schema}.journal FROM PUBLIC`,
          /^it has DELETE on \S+\.journal$/,
        ],
        [
          `GRANT UPDATE (kind) ON ${schema}.journal TO PUBLIC`,
          `REVOKE UPDATE (kind) ON ${schema}.journal FROM PUBLIC`,
          /^it has UPDATE on \S+\.journal$/,
        ],
        [
          `GRANT CREATE ON SCHEMA ${schema} TO PUBLIC`,
          `REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`,
          /^it has CREATE on the schema \S+$/,
        ],
      ];
      for (const [give, take, says] of cases) {
        await run(adminUrl, give);
        const error = await refusal(other);
        await run(adminUrl, take);
        expect(error, give).to.be.instanceOf(PowerfulRoleError);
        expect((error as Error).message).to.match(says);
      }
    });

    it("takes rights that the role has had by itself", async () => {
      const other = `other_of_${schema}`;
      await run(
        adminUrl,
        `GRANT UPDATE (kind), DELETE ON ${schema}.journal TO ${other}`,
        `GRANT CREATE ON SCHEMA ${schema} TO ${other}`,
      );
      expect((await grant(other)).code).to.equal(0);
      const sql = `
        SELECT has_any_column_privilege('${other}', '${schema}.journal', 'UPDATE') AS updates,
          has_table_privilege('${other}', '${schema}.journal', 'DELETE') AS deletes,
          has_schema_privilege('${other}', '${schema}', 'CREATE') AS creates`;
      expect(await run(adminUrl, sql)).to.deep.equal([{ updates: false, deletes: false, creates: false }]);
    });
  });
}
