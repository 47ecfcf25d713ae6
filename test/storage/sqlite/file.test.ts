import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

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
