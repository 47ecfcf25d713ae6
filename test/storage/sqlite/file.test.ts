import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";

// Longer than a worker thread needs to start.
const LOCKED_MILLIS = 500;

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("a new file of SQLite that another process is creating", () => {
  it("is opened once that process no longer reads it: SQLite itself does not wait to change it to WAL mode", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kesc-busy-"));
    const filename = join(folder, "kesc.db");
    const other = new BetterSqlite3(filename);
    try {
      other.pragma("application_id = 0x4b455343");
      other.exec("BEGIN");
      other.prepare("SELECT * FROM sqlite_schema").all();
      const opening = openDatabase({ engine: "sqlite", filename, masterKeyFile: TEST_MASTER_KEY_FILE });
      await sleep(LOCKED_MILLIS);
      other.exec("COMMIT");
      await (await opening).close();
    } finally {
      other.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the files of SQLite", () => {
  for (const umask of [0o000, 0o022, 0o077]) {
    it(`are only for their owner, with the umask ${umask.toString(8).padStart(3, "0")}`, async () => {
      const parent = mkdtempSync(join(tmpdir(), "kesc-modes-"));
      const folder = join(parent, "data");
      const before = process.umask(umask);
      try {
        const database = await openDatabase({
          engine: "sqlite",
          filename: join(folder, "kesc.db"),
          masterKeyFile: TEST_MASTER_KEY_FILE,
        });
        await migrate(database.cells[0]);
        // A write and a read: with them come the log and the index that readers share.
        const own = keys(database, () => toUnixMillis(0));
        await own.createOrganization("A");
        expect(await own.organizations()).to.have.lengthOf(1);
        const modes = Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
        expect(modes).to.deep.equal({ "kesc.db": "600", "kesc.db-shm": "600", "kesc.db-wal": "600" });
        expect(modeOf(folder)).to.equal("700");
        await database.close();
      } finally {
        process.umask(before);
        rmSync(parent, { recursive: true, force: true });
      }
    });
  }
});
