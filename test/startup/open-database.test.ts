import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import knexModule, { type Knex } from "knex";

import { migrateDatabase } from "../../src/cli/commands/migrate.js";
import { openAnyDatabase, openCurrentDatabase, openingError } from "../../src/startup/open-database.js";
import { OperatorError } from "../../src/startup/operator-error.js";
import type { DatabaseAddress } from "../../src/storage/database.js";
import type { WorkerFiles } from "../../src/storage/sqlite/worker.js";
import { SqliteKnexClient } from "../../src/storage/sqlite/worker-pool.js";
import { execute, openTestDatabase } from "../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { KESC, kesc } from "../support/service/kesc.js";

const FOREIGN_APPLICATION = 0x0f055112;

function sqlite(filename: string, masterKeyFile = TEST_MASTER_KEY_FILE): DatabaseAddress {
  return { engine: "sqlite", filename, masterKeyFile };
}

describe("a database file that is not KESC's, or no longer whole", () => {
  let folder: string;
  let ours: string;
  let files = 0;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-files-"));
    ours = newFile();
    await migrateDatabase(sqlite(ours));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function newFile(): string {
    files += 1;
    return join(folder, `file${String(files)}.db`);
  }

  function edit(filename: string, sql: string): void {
    const connection = new BetterSqlite3(filename);
    connection.exec(sql);
    connection.close();
  }

  function copyOfOurs(filename: string): void {
    copyFileSync(ours, filename);
  }

  async function wordsOf(opening: Promise<unknown>): Promise<string> {
    const thrown: unknown = await opening.catch((error: unknown) => error);
    if (!(thrown instanceof OperatorError)) throw new Error(`not an OperatorError: ${String(thrown)}`);
    expect(thrown.exitCode).to.equal(1);
    return thrown.message;
  }

  /** A hash of the file; of a folder, a hash of its file names. */
  function contentOf(path: string): string {
    const bytes = statSync(path).isDirectory() ? readdirSync(path).join() : readFileSync(path);
    return createHash("sha256").update(bytes).digest("hex");
  }

  const DAMAGED =
    /Check DATABASE_URL; if the file is the right one, it is damaged: .* restore the last backup: kesc restore FILE/;
  const LOST_ID = /sqlite3 FILE "PRAGMA application_id = 1262834499", and then kesc verify/;
  const FOREIGN = /it belongs to another application/;
  const NO_DATABASE = /it is not an SQLite database/;
  const CUT = /malformed|SQLITE_CORRUPT/;
  const WITH_LOG = /it is missing or empty, but its log .*-wal exists/;
  const NEWER = /the migrations 9999-of-the-future, which this version of kesc does not know/;
  const UNRELEASED = /comes from a build before the first release/;
  const LAST_READER = /The commit [0-9a-f]{8} is the last that reads it\./;
  const OTHER_VERSION = /Use the version that created them, or restore an earlier backup/;
  const NOTES = "CREATE TABLE notes (words TEXT)";
  const MARKED = `PRAGMA application_id = ${String(FOREIGN_APPLICATION)}; ${NOTES}`;
  const renamed = (first: string) => `UPDATE knex_migrations SET name = '${first}' WHERE name = '0001-first-release'`;
  const IN_FUTURE = "INSERT INTO knex_migrations (name, batch) VALUES ('9999-of-the-future', 99)";

  const bytes =
    (content: string | Buffer, log?: Buffer) =>
    (file: string): void => {
      writeFileSync(file, content);
      if (log !== undefined) writeFileSync(`${file}-wal`, log);
    };
  const madeBy =
    (sql: string) =>
    (file: string): void => {
      edit(file, sql);
    };
  const halfOfOurs = (file: string): void => {
    copyOfOurs(file);
    truncateSync(file, statSync(file).size / 2);
  };
  const oursAfter =
    (sql: string) =>
    (file: string): void => {
      copyOfOurs(file);
      edit(file, sql);
    };

  const REFUSED: readonly (readonly [string, (file: string) => void, says: RegExp, advises?: RegExp])[] = [
    ["random bytes", bytes(randomBytes(20_000)), NO_DATABASE],
    ["a text", bytes("SQLite format 3, they say"), NO_DATABASE],
    ["a folder", mkdirSync, /it is not a file/],
    ["another application's database, which does not say whose it is", madeBy(NOTES), FOREIGN],
    ["another application's database, which does", madeBy(MARKED), FOREIGN],
    ["half of our own", halfOfOurs, CUT],
    ["our own, restored from a .dump", oursAfter("PRAGMA application_id = 0"), /no application id/, LOST_ID],
    ["nothing, with the log that belonged to it", bytes("", randomBytes(5_000)), WITH_LOG],
    ["our own, which a newer version has migrated", oursAfter(IN_FUTURE), NEWER, OTHER_VERSION],
    [
      "our own, of the last build before the first release",
      oursAfter(renamed("0001-baseline")),
      UNRELEASED,
      LAST_READER,
    ],
    ["our own, of an earlier build", oursAfter(renamed("0001-organizations")), UNRELEASED, LAST_READER],
  ];
  for (const [name, make, says, advises = DAMAGED] of REFUSED) {
    it(`that is ${name}: is refused with advice, and stays unchanged`, async () => {
      const filename = newFile();
      make(filename);
      const address = sqlite(filename);
      const before = contentOf(filename);
      for (const open of [openCurrentDatabase, openAnyDatabase, migrateDatabase]) {
        expect(await wordsOf(open(address)))
          .to.match(says)
          .and.match(advises)
          .and.contain(filename);
      }
      expect(contentOf(filename)).to.equal(before);
    });
  }

  it("ends every command that opens it with exit code 1", async () => {
    const filename = newFile();
    edit(filename, "PRAGMA journal_mode = WAL; CREATE TABLE notes (words TEXT); INSERT INTO notes VALUES ('keep')");
    const before = contentOf(filename);
    const variables = { DATABASE_URL: `sqlite:${filename}`, KESC_GRPC_ADDRESS: "127.0.0.1:0" };
    await Promise.all(
      ["server", "serve", "migrate", "verify"].map(async (command) => {
        const { code, stdout, stderr } = await kesc([command], variables);
        expect({ code, stdout }, command).to.deep.equal({ code: 1, stdout: "" });
        expect(stderr).to.match(FOREIGN).and.match(DAMAGED).and.contain(filename);
      }),
    );
    expect(contentOf(filename)).to.equal(before);
  });

  it("that is read-only ends the server with exit code 1, and stays unchanged", function () {
    if (process.platform !== "linux") this.skip();
    const filename = newFile();
    copyOfOurs(filename);
    chmodSync(filename, 0o400);
    const before = contentOf(filename);
    const command = [process.execPath, KESC, "server"];
    // Root may write any file, unless it drops its capabilities.
    if (process.getuid?.() === 0) command.unshift("setpriv", "--inh-caps=-all", "--bounding-set=-all");
    const [program = "", ...args] = command;
    const env = { PATH: process.env["PATH"], DATABASE_URL: `sqlite:${filename}` };
    const { status, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
    expect(status, stderr).to.equal(1);
    expect(stderr).to.match(/cannot be opened: EACCES.* Check DATABASE_URL, and that this user may write the file/);
    expect(contentOf(filename)).to.equal(before);
  });
});

describe("a PostgreSQL database behind a pooler that refuses a setting", () => {
  it("cannot be opened, and the advice names the setting of the pooler", () => {
    const url = "postgres://kesc@127.0.0.1:6432/kesc";
    const address = { engine: "postgres", url, connectionsMax: 1, masterKeyFile: "" } as const;
    // What PgBouncer 1.18 answers.
    const { message } = openingError(address, new Error("unsupported startup parameter: statement_timeout"));
    expect(message).to.include("PgBouncer needs ignore_startup_parameters = extra_float_digits,statement_timeout");
  });
});

describe("an SQLite file on a machine that has no time for it", () => {
  it("is opened, however late its thread gets a processor", async () => {
    const place = mkdtempSync(join(tmpdir(), "kesc-busy-"));
    const opening = openAnyDatabase(sqlite(join(place, "kesc.db")));
    await setImmediate();
    // The loop stands still for longer than a connection over the network may take.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_100);
    await (await opening).close();
    rmSync(place, { recursive: true });
  });

  it("says so if the thread does not respond in time, in words that blame neither address nor rights", async () => {
    const client = SqliteKnexClient as typeof Knex.Client;
    const connection = { filename: ":memory:", masterKeyFile: "", isReadOnly: false } satisfies WorkerFiles;
    const pool = knexModule.knex({
      client,
      connection: connection as Knex.Sqlite3ConnectionConfig,
      useNullAsDefault: true,
      acquireConnectionTimeout: 1,
      log: { warn: () => undefined },
    });
    const error: unknown = await pool.raw("SELECT 1").catch((thrown: unknown) => thrown);
    expect(openingError(sqlite("/data/kesc.db"), error).message).to.equal(
      "The database file /data/kesc.db was not opened: its thread did not respond in time: this machine is too busy, " +
        "or its disk hangs. Nothing is known about the file. Run the command again when the machine has time.",
    );
    await pool.destroy();
  });
});

describe("a database of PostgreSQL that a newer version has migrated", () => {
  it("is refused with advice", async () => {
    const test = await openTestDatabase("postgres");
    try {
      const sql = "INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999-of-the-future', 99, now())";
      await execute(test.address, sql);
      for (const open of [openCurrentDatabase, migrateDatabase]) {
        const thrown = await open(test.address).catch((error: unknown) => error);
        expect(thrown).to.be.instanceOf(OperatorError);
        expect((thrown as OperatorError).message).to.match(
          /9999-of-the-future, which this version of kesc does not know/,
        );
      }
    } finally {
      await test.dispose();
    }
  });
});
