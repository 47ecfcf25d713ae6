import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { type DatabaseAddress, openDatabase } from "../../src/storage/database.js";
import { migrate } from "../../src/storage/migrate.js";
import { POSTGRES_OBJECTS } from "../../src/verify/schema/postgres.js";
import { verify } from "../../src/verify/verify.js";
import {
  databaseOfEachTest,
  type ENGINES,
  execute,
  openTestDatabase,
  type TestDatabase,
} from "../support/databases.js";
import { migratedPostgresObjects } from "../support/documents/postgres-objects.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { sharedPostgres } from "../support/postgres.js";
import { GivenBooks, makeTraffic } from "./given/books.js";

/** Statements that change the schema, and what `verify` finds. */
type Change = readonly [name: string, statements: readonly string[], words: RegExp];

const ON_SQLITE: readonly Change[] = [
  ["a trigger is missing", ["DROP TRIGGER journal_refuses_update"], /trigger journal_refuses_update.*found none/],
  [
    "a trigger does nothing",
    [
      "DROP TRIGGER journal_refuses_delete",
      "CREATE TRIGGER journal_refuses_delete BEFORE DELETE ON journal BEGIN SELECT 1; END",
    ],
    /journal: trigger journal_refuses_delete: .*RAISE.*SELECT 1/,
  ],
  [
    "there is one more trigger",
    ["CREATE TRIGGER more AFTER INSERT ON transactions BEGIN UPDATE books SET state = 'OPEN'; END"],
    /transactions: trigger more: expected none/,
  ],
  ["an index is missing", ["DROP INDEX journal_terminal_rows"], /index journal_terminal_rows.*found none/],
  ["there is one more column", ["ALTER TABLE accounts ADD COLUMN note TEXT"], /accounts: table accounts: .*note TEXT/],
];

const ON_POSTGRES: readonly Change[] = [
  [
    "a trigger is missing",
    ["DROP TRIGGER journal_refuses_change ON journal"],
    /trigger journal_refuses_change: .*none/,
  ],
  [
    "a trigger is disabled",
    ["ALTER TABLE journal DISABLE TRIGGER journal_refuses_change"],
    /trigger journal_refuses_change: .*found enabled D:/,
  ],
  [
    "a trigger does nothing",
    [
      `CREATE OR REPLACE FUNCTION journal_refuses_change() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN RETURN NULL; END $$`,
    ],
    /function journal_refuses_change: .*RAISE EXCEPTION.*RETURN NULL/,
  ],
  [
    "a foreign key is disabled",
    ["ALTER TABLE transactions DISABLE TRIGGER ALL"],
    /transactions: trigger RI_ConstraintTrigger\S+: expected none; found enabled D/,
  ],
  [
    "a check is missing",
    ["ALTER TABLE accounts DROP CONSTRAINT accounts_available_cents_check"],
    /accounts: constraint accounts_available_cents_check: .*none/,
  ],
  [
    "a check was not checked",
    [
      "ALTER TABLE accounts DROP CONSTRAINT accounts_available_cents_check",
      "ALTER TABLE accounts ADD CONSTRAINT accounts_available_cents_check CHECK (available_cents >= 0) NOT VALID",
    ],
    /accounts_available_cents_check: .*NOT VALID/,
  ],
  ...[
    ["lacks one of its parts", "length(hashes) >= 32 AND length(hashes) <= 8192"],
    ["has OR for AND", "length(hashes) >= 32 AND length(hashes) <= 8192 OR length(hashes) % 32 = 0"],
    ["groups its parts otherwise", "length(hashes) >= 32 AND (length(hashes) <= 8192 OR length(hashes) % 32 = 0)"],
    ["hides a part in a text", "length(hashes) >= 32 AND length(hashes) <= 8192 AND ') AND (' <> ''"],
  ].map(([what = "", condition = ""]): Change => [
    `a check ${what}`,
    [
      "ALTER TABLE seal_tiles DROP CONSTRAINT seal_tiles_hashes_check",
      `ALTER TABLE seal_tiles ADD CONSTRAINT seal_tiles_hashes_check CHECK (${condition})`,
    ],
    /^public.seal_tiles: constraint seal_tiles_hashes_check: expected CHECK .*; found CHECK .*$/,
  ]),
  ["a column may be empty", ["ALTER TABLE journal ALTER actor DROP NOT NULL"], /journal: column actor: .*found text$/m],
  ["a column has a default", ["ALTER TABLE journal ALTER actor SET DEFAULT 'me'"], /column actor: .*DEFAULT 'me'/],
  ["there is one more column", ["ALTER TABLE accounts ADD COLUMN note TEXT"], /column note: expected none; found text/],
  ["a column is missing", ["ALTER TABLE api_keys DROP COLUMN expires_at"], /column expires_at: .*found none/],
  ["an index is missing", ["DROP INDEX journal_terminal_rows"], /index journal_terminal_rows: .*none/],
  ["a table is not logged", ["ALTER TABLE idempotency_keys SET UNLOGGED"], /idempotency_keys: table: .*persistence u/],
  [
    "a rule drops rows",
    ["CREATE RULE lost AS ON INSERT TO journal DO INSTEAD NOTHING"],
    /journal: rule lost: expected none/,
  ],
  ["rows are hidden", ["ALTER TABLE journal ENABLE ROW LEVEL SECURITY"], /journal: table: .*row security/],
  ["every role may change rows", ["GRANT UPDATE ON journal TO PUBLIC"], /journal: rights: .*PUBLIC has UPDATE/],
  ["every role may change a column", ["GRANT UPDATE (reason) ON journal TO PUBLIC"], /rights: .*PUBLIC has UPDATE/],
  ["every role may change seals", ["GRANT UPDATE ON seals TO PUBLIC"], /public\.seals: rights: .*PUBLIC has UPDATE/],
  [
    "every role may change the acts of operators",
    ["GRANT UPDATE, DELETE ON operator_acts TO PUBLIC"],
    /operator_acts: rights: .*PUBLIC has DELETE[^]*operator_acts: rights: .*PUBLIC has UPDATE/,
  ],
  [
    "a table has another owner",
    [
      "DO $$ BEGIN CREATE ROLE evil; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
      "ALTER TABLE journal OWNER TO evil",
    ],
    /public\.journal: owner: expected .*; found evil/,
  ],
  ["a table has children", ["CREATE TABLE more () INHERITS (journal)"], /journal: table: .*inherits/],
  ["row security is forced", ["ALTER TABLE journal FORCE ROW LEVEL SECURITY"], /journal: table: .*forced/],
  [
    "a function has a setting of its own",
    ["ALTER FUNCTION journal_refuses_change() SET session_replication_role = replica"],
    /function journal_refuses_change: .*SET session_replication_role=replica/,
  ],
  [
    "a role switches triggers off",
    [
      "DO $$ BEGIN CREATE ROLE evil; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
      "DO $$ BEGIN EXECUTE format('ALTER ROLE evil IN DATABASE %I SET session_replication_role = replica', current_database()); END $$",
    ],
    /session_replication_role: expected origin; found session_replication_role=replica for the role evil/,
  ],
  [
    "every role may empty it",
    ["GRANT TRUNCATE, DELETE ON journal TO PUBLIC"],
    /PUBLIC has DELETE[^]*PUBLIC has TRUNCATE/,
  ],
];

async function findingsOf({ database }: TestDatabase): Promise<string> {
  const { firstFindings } = await verify(database);
  return firstFindings.map(({ id, expected, found }) => `${id ?? ""}: expected ${expected}; found ${found}`).join("\n");
}

for (const [engine, changes] of [
  ["sqlite", ON_SQLITE],
  ["postgres", ON_POSTGRES],
] as const satisfies [(typeof ENGINES)[number], readonly Change[]][]) {
  describe(`verify of the schema on ${engine}`, () => {
    for (const [name, statements, words] of changes) {
      it(`finds that ${name}`, async () => {
        const opened = await openTestDatabase(engine);
        await execute(opened.address, ...statements);
        expect(await findingsOf(opened)).to.match(words);
        await opened.dispose();
      });
    }

    it("finds that a column is missing which it reads", async () => {
      const opened = await openTestDatabase(engine);
      await GivenBooks.open(opened.database);
      await execute(opened.address, "ALTER TABLE transactions DROP COLUMN description");
      expect(await findingsOf(opened)).to.match(/transactions: [^]*rows that can be read; found .*description/);
      await opened.dispose();
    });

    it("takes no notice of other tables", async () => {
      const opened = await openTestDatabase(engine);
      await execute(opened.address, "CREATE TABLE other (id TEXT)", "CREATE INDEX other_ids ON other (id)");
      expect(await findingsOf(opened)).to.equal("");
      await opened.dispose();
    });
  });
}

describe("verify of the schema on sqlite, past what SQL allows", () => {
  const opened = databaseOfEachTest("sqlite");
  let filename: string;
  beforeEach(() => {
    filename = opened.address.engine === "sqlite" ? opened.address.filename : "";
  });

  /** Changes the text of the schema. Connections that are opened later follow it. */
  function rewrite(from: string, to: string): void {
    const connection = new BetterSqlite3(filename);
    connection.unsafeMode();
    connection.pragma("writable_schema = ON");
    const { changes } = connection
      .prepare("UPDATE sqlite_schema SET sql = replace(sql, @from, @to) WHERE instr(sql, @from) > 0")
      .run({ from, to });
    connection.close();
    expect(changes).to.be.greaterThan(0);
  }

  it("finds that a check is missing", async () => {
    rewrite("CHECK (available_cents >= 0)", "CHECK (1 = 1)");
    expect(await findingsOf(opened)).to.match(/accounts: table accounts: .*CHECK \(1 = 1\)/);
  });

  it("finds that an index lacks a row", async () => {
    await makeTraffic(await GivenBooks.open(opened.database));
    await execute(opened.address, "UPDATE accounts SET status = 'FROZEN' WHERE seq = 3");
    rewrite("accounts (book, status, seq)", "accounts (book, status, seq) WHERE status = 'CLOSED'");
    await execute(opened.address, "UPDATE accounts SET status = 'ACTIVE' WHERE seq = 3");
    rewrite("accounts (book, status, seq) WHERE status = 'CLOSED'", "accounts (book, status, seq)");
    expect(await findingsOf(opened)).to.match(/^integrity_check: expected ok; found .*accounts_by_status/m);
  });
});

describe("verify of the schema on postgres", () => {
  const opened = databaseOfEachTest("postgres");

  it("knows every object that the migrations make, and no other", async () => {
    expect(await migratedPostgresObjects()).to.deep.equal(POSTGRES_OBJECTS);
    // Only the objects of tables that the model has are read.
    const tables = await execute<{ name: string }>(
      opened.address,
      String.raw`SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname NOT LIKE 'knex\_%'`,
    );
    expect(Object.keys(POSTGRES_OBJECTS)).to.have.members(tables.map(({ name }) => name));
  });

  it("holds after a dump, where PostgreSQL has read the texts of its catalog again", async () => {
    await execute(
      opened.address,
      String.raw`DO $$ DECLARE made record; BEGIN
        FOR made IN SELECT conrelid::regclass AS "table", conname AS name, pg_get_constraintdef(oid) AS definition
          FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'c'
        LOOP
          EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', made."table", made.name);
          EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', made."table", made.name, made.definition);
        END LOOP;
        FOR made IN SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
          WHERE indpred IS NOT NULL AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
        LOOP
          EXECUTE format('DROP INDEX %s', made.name);
          EXECUTE made.definition;
        END LOOP; END $$`,
    );
    expect(await findingsOf(opened)).to.equal("");
  });

  it("is not begun where triggers are off for the whole database: neither servers nor commands open it", async () => {
    await execute(
      opened.address,
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', current_database()); END $$",
    );
    const error: unknown = await openDatabase(opened.address).catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain("session_replication_role is replica, so no trigger guards the journal");
  });

  it("needs no more rights than to read", async () => {
    await makeTraffic(await GivenBooks.open(opened.database));
    await execute(
      opened.address,
      "DROP ROLE IF EXISTS auditor",
      "CREATE ROLE auditor LOGIN",
      "GRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor",
    );
    const audited = await openDatabase(addressOf("auditor"));
    expect((await verify(audited)).firstFindings).to.deep.equal([]);
    await audited.close();
    await execute(opened.address, "DROP OWNED BY auditor", "DROP ROLE auditor");
  });

  it("accepts rights in place of a trigger on a Citus cluster alone", async () => {
    await execute(opened.address, "DROP TRIGGER journal_refuses_change ON journal");
    expect(await findingsOf(opened)).to.match(/trigger journal_refuses_change/);
    // No test has Citus, so its entry in the catalog stands in for it.
    await execute(
      opened.address,
      "SET allow_system_table_mods = on",
      `INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
         SELECT 99999, 'citus', extowner, extnamespace, false, '13.2' FROM pg_extension WHERE extname = 'plpgsql'`,
    );
    expect(await findingsOf(opened)).to.equal("");
    await execute(opened.address, "GRANT DELETE ON journal TO PUBLIC");
    expect(await findingsOf(opened)).to.match(/rights: [^]*trigger journal_refuses_change/);
  });

  function addressOf(role: string): DatabaseAddress {
    if (opened.address.engine !== "postgres") throw new Error("this database has no roles");
    const url = new URL(opened.address.url);
    url.username = role;
    return { ...opened.address, url: url.href };
  }
});

describe("verify of the schema in several cells", () => {
  it("compares each cell's schema", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const address = { engine: "postgres", url, connectionsMax: 5, masterKeyFile: TEST_MASTER_KEY_FILE } as const;
    await execute(address, "CREATE SCHEMA kesc_0", "CREATE SCHEMA kesc_1");
    const database = await openDatabase(address);
    for (const cell of database.cells) await migrate(cell);
    expect((await verify(database)).firstFindings).to.deep.equal([]);
    await execute(address, "DROP INDEX kesc_1.journal_terminal_rows");
    const { firstFindings } = await verify(database);
    expect(firstFindings.map(({ id }) => id)).to.deep.equal(["kesc_1.journal: index journal_terminal_rows"]);
    await database.close();
  });
});
