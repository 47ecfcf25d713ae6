import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { migrateDatabase } from "../../src/cli/commands/migrate.js";
import { openAnyDatabase, openCurrentDatabase } from "../../src/startup/open-database.js";
import { OperatorError } from "../../src/startup/operator-error.js";
import type { DatabaseAddress } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { addMasterKey, MasterKeyError, readMasterKeys } from "../../src/storage/secrets/master-key.js";
import { ENGINES, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { NOW } from "../support/names.js";

const OTHER_KEY = Buffer.alloc(32, "other").toString("base64url");
const ADVICE = "Put the file back from its copy, or set KESC_MASTER_KEY_FILE to it (docs/run.md).";

for (const engine of ENGINES) {
  describe(`the master key file of a database that has a book (${engine})`, () => {
    let folder: string;
    let opened: TestDatabase;
    let keyFile: string;
    let address: DatabaseAddress;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "kesc-master-key-"));
      keyFile = join(folder, "master.key");
      opened = await openTestDatabase(engine);
      await keys(opened.database, () => NOW).createOrganization("A");
      address = { ...opened.address, masterKeyFile: keyFile };
    });
    after(async () => {
      await opened.dispose();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(() => {
      rmSync(keyFile, { recursive: true, force: true });
    });

    const [{ id: needed }] = readMasterKeys(TEST_MASTER_KEY_FILE);

    for (const [what, content, says] of [
      ["that is missing", undefined, "cannot be used: it does not exist."],
      ["that is empty", "", "cannot be used: it is empty."],
      [
        "with a line that is no key",
        `${OTHER_KEY}\nnonsense\n`,
        "cannot be used: line 2 is not 32 bytes in base64url.",
      ],
      ["that lacks the key", `${OTHER_KEY}\n`, `lacks the keys ${needed}, which the database needs.`],
    ] as const) {
      it(`is refused with advice: one ${what}`, async () => {
        if (content !== undefined) writeFileSync(keyFile, content, { mode: 0o600 });
        const thrown: unknown = await openCurrentDatabase(address).catch((error: unknown) => error);
        expect(thrown).to.be.instanceOf(OperatorError).and.include({ exitCode: 1 });
        expect((thrown as Error).message).to.equal(`The master key file ${keyFile} ${says} ${ADVICE}`);
      });
    }

    for (const mode of [0o644, 0o604, 0o660, 0o602]) {
      it(`is refused if others may read or change it: mode 0${mode.toString(8)}`, async () => {
        copyFileSync(TEST_MASTER_KEY_FILE, keyFile);
        chmodSync(keyFile, mode);
        const thrown: unknown = await openCurrentDatabase(address).catch((error: unknown) => error);
        expect(thrown).to.be.instanceOf(OperatorError).and.include({ exitCode: 1 });
        expect((thrown as Error).message).to.equal(
          `The master key file ${keyFile} cannot be used: others may read or change it. Run: chmod 600 ${keyFile}`,
        );
        expect(() => addMasterKey(keyFile)).to.throw(MasterKeyError, "others may read or change it");
      });
    }

    it("may belong to a group that reads it, as a mounted secret does", async () => {
      copyFileSync(TEST_MASTER_KEY_FILE, keyFile);
      chmodSync(keyFile, 0o440);
      await (await openCurrentDatabase(address)).close();
    });

    it("may have other keys before the one that the book needs", async () => {
      writeFileSync(keyFile, `${OTHER_KEY}\n${readFileSync(TEST_MASTER_KEY_FILE, "utf8")}`, { mode: 0o600 });
      const database = await openCurrentDatabase(address);
      try {
        expect(await keys(database, () => NOW).organizations()).to.have.lengthOf(1);
      } finally {
        await database.close();
      }
    });

    it("is not needed to look at the migrations", async () => {
      await (await openAnyDatabase(address)).close();
    });

    it("is not replaced by a migration", async () => {
      const thrown: unknown = await migrateDatabase(address).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(OperatorError);
      expect((thrown as Error).message).to.equal(
        `The master key file ${keyFile} cannot be used: it does not exist. ${ADVICE}`,
      );
    });
  });
}
