import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

import { expect } from "chai";
import { pino } from "pino";

import type { Backup } from "../../../src/cli/backup/backup.js";
import { restoreBackup, type Restored } from "../../../src/cli/backup/restore-backup.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { startServer } from "../../../src/server.js";
import { activateBook, listBooks } from "../../../src/storage/books.js";
import { type Database, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { confirmRestore } from "../../../src/storage/restores.js";
import { verify } from "../../../src/verify/verify.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { configOf } from "../../support/config.js";
import { execute } from "../../support/databases.js";
import { makeKey } from "../../support/service/tenants.js";
import { TRAFFIC_ROWS } from "../../verify/given/books.js";
import { GivenSource, problemOf } from "./given-backup.js";

const PERMISSIONS = 0o777;
const ANOTHER_KEY = Buffer.alloc(32, "other").toString("base64url");

describe("a restored backup", () => {
  let source: GivenSource;
  let backup: Backup;
  let target: string;
  beforeEach(async () => {
    source = await GivenSource.make();
    backup = await source.backUp();
    target = source.path("restored/kesc.db");
  });
  afterEach(() => source.dispose());

  const restore = (given: { file?: string; masterKeyFile?: string; withoutManifest?: true } = {}): Promise<Restored> =>
    restoreBackup(
      { ...source.address, filename: target, masterKeyFile: given.masterKeyFile ?? source.address.masterKeyFile },
      given.file ?? backup.file,
      { withoutManifest: given.withoutManifest === true },
    );

  async function withRestored<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    const database = await openDatabase({ ...source.address, filename: target });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  /** Ends with this problem, and leaves neither a database nor a part of one. */
  async function expectRefused(says: RegExp, given: Parameters<typeof restore>[0] = {}): Promise<void> {
    expect(await problemOf(() => restore(given)))
      .to.match(/^OperatorError: /)
      .and.match(says);
    expect(existsSync(source.path("restored")) ? readdirSync(source.path("restored")) : []).to.deep.equal([]);
  }

  it("has the heads of the manifest, every book is RESTORED, and only the owner can read it", async () => {
    const umask = process.umask(0);
    const restored = await restore().finally(() => process.umask(umask));
    expect(readdirSync(source.path("restored"))).to.deep.equal(["kesc.db"]);
    expect(statSync(target).mode & PERMISSIONS).to.equal(0o600);
    const { coverage, findingsCount } = await withRestored((database) => verify(database));
    expect(findingsCount).to.equal(0);
    expect(coverage.heads).to.have.deep.members([...backup.manifest.heads.values()]);
    expect(restored.books.map(({ state, lastSeq, name }) => ({ state, lastSeq, name }))).to.deep.equal([
      { state: "RESTORED", lastSeq: TRAFFIC_ROWS, name: "Duka" },
      { state: "RESTORED", lastSeq: 1, name: "Shule" },
    ]);
    expect(await withRestored(listBooks)).to.deep.equal(restored.books);
  });

  it("leaves the backup as it is, and can be made again", async () => {
    const before = readFileSync(backup.file);
    await restore();
    rmSync(target);
    await restore();
    expect(readFileSync(backup.file).equals(before)).to.equal(true);
  });

  it("leaves books that move or have moved as they are: another cell may have them", async () => {
    await execute(
      source.address,
      "UPDATE books SET state = 'MOVING' WHERE number = 1",
      "UPDATE books SET state = 'MOVED' WHERE number = 2",
    );
    backup = await source.backUp("moved.db");
    expect((await restore()).books.map(({ state }) => state)).to.deep.equal(["MOVING", "MOVED"]);
  });

  it("serves reads, and mints and redemptions on direct, and stays RESTORED until it is activated", async () => {
    await restore();
    const { organizationId } = source.books;
    await withRestored(async (database) => {
      const { secret } = await makeKey(
        keys(database, () => toUnixMillis(Date.now())),
        organizationId,
      );
      await confirmRestore(database, toUnixMillis(Date.now()));
      const logger = pino({}, { write: () => undefined });
      const server = await startServer(configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0" }), { database, logger });
      const grpc = new GrpcCaller(server.address, { key: secret, deadlineMillis: 10_000 });
      try {
        const [account] = (await grpc.call("ListAccounts", { user_id: "amina" })).response["accounts"] as [
          { id: string },
        ];
        const move = { account_id: account.id, amount: "5.00" };
        expect(await grpc.call("Mint", { ...move, reference: "after" })).to.include({ code: 0 });
        expect(await grpc.call("Redeem", { ...move, reference: "out" })).to.include({ code: 0 });
        expect(await grpc.call("GetAccount", { account_id: account.id })).to.include({ code: 0 });

        const stateOf = async (): Promise<string | undefined> => (await listBooks(database))[0]?.state;
        expect(await stateOf()).to.equal("RESTORED");
        expect(await activateBook(database.cells[0], organizationId)).to.equal("RESTORED");
        expect(await stateOf()).to.equal("OPEN");
        expect(await activateBook(database.cells[0], organizationId)).to.equal("OPEN");
        expect(await grpc.call("Mint", { ...move, reference: "open again" })).to.include({ code: 0 });
      } finally {
        grpc.close();
        await server.stop();
      }
      expect((await listBooks(database)).map(({ state }) => state)).to.deep.equal(["OPEN", "RESTORED"]);
      expect((await verify(database, { notedHeads: backup.manifest.heads })).findingsCount).to.equal(0);
    });
  });

  describe("is refused, and nothing is left,", () => {
    it("if one bit of the backup has changed", async () => {
      const bytes = readFileSync(backup.file);
      const middle = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      writeFileSync(backup.file, bytes);
      await expectRefused(/is not the file that its manifest .*: SHA-256 [0-9a-f]{64} expected, [0-9a-f]{64} found\./);
    });

    it("if the backup was cut", async () => {
      writeFileSync(backup.file, readFileSync(backup.file).subarray(0, -4_096));
      await expectRefused(/: bytes [0-9]+ expected, [0-9]+ found\./);
    });

    it("if there is no backup", async () => {
      await expectRefused(/There is no file .*nothing\.db\./, { file: source.path("nothing.db") });
    });

    it("if the manifest is missing, unless the operator asks for that", async () => {
      rmSync(backup.manifestFile);
      await expectRefused(/The manifest .*backup\.db\.json does not exist\. .* --without-manifest/);
      expect((await restore({ withoutManifest: true })).books).to.have.length(2);
    });

    for (const [name, changed] of [
      ["cut", (text: string) => text.slice(0, 100)],
      ["of another format", (text: string) => text.replace("kesc-backup-1", "kesc-backup-2")],
      ["without a checksum", (text: string) => text.replace(/"sha256": "[0-9a-f]+"/, '"sha256": ""')],
      ["with a wrong head", (text: string) => text.replace(` ${String(TRAFFIC_ROWS)} `, " -1 ")],
    ] as const) {
      it(`if the manifest is ${name}`, async () => {
        writeFileSync(backup.manifestFile, changed(readFileSync(backup.manifestFile, "utf8")));
        await expectRefused(/backup\.db\.json is not the manifest of a backup that this version/);
      });
    }

    it("if the manifest has other heads than the books", async () => {
      const text = readFileSync(backup.manifestFile, "utf8");
      writeFileSync(backup.manifestFile, text.replace(` ${String(TRAFFIC_ROWS)} `, ` ${String(TRAFFIC_ROWS + 1)} `));
      await expectRefused(/The books of the backup are NOT correct\. .*\n.*found the book ends at seq [0-9]+/);
      const shulesLine = /,\s+"org_\S+ 1 [0-9a-f]{64}"/;
      expect(text).to.match(shulesLine);
      writeFileSync(backup.manifestFile, text.replace(shulesLine, ""));
      await expectRefused(/The books do not end where the manifest says\./);
    });

    it("if the master key file lacks a key that the books need", async () => {
      const masterKeyFile = source.path("master.key");
      const [id = ""] = backup.manifest.masterKeyIds;
      const says = new RegExp(`lacks the keys ${id}, which the backup needs\\. Find the copy`);
      await expectRefused(says, { masterKeyFile });
      writeFileSync(masterKeyFile, `${ANOTHER_KEY}\n`, { mode: 0o600 });
      await expectRefused(says, { masterKeyFile });
      await expectRefused(says, { masterKeyFile, withoutManifest: true });
      writeFileSync(masterKeyFile, "no key\n", { mode: 0o600 });
      await expectRefused(/The master key file .* cannot be used: line 1 is not 32 bytes/, { masterKeyFile });
    });

    it("if it is a backup of another schema", async () => {
      const insert = "INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999-later', 2, 0)";
      await execute({ engine: "sqlite", filename: backup.file }, insert);
      await expectRefused(/has the migrations 9999-later: another version of kesc made it\./, {
        withoutManifest: true,
      });
    });

    it("if its books are wrong, or its file is damaged or foreign", async () => {
      const wrong = { engine: "sqlite", filename: source.path("wrong.db") } as const;
      copyFileSync(backup.file, wrong.filename);
      await execute(wrong, "UPDATE books SET last_seq = last_seq + 1 WHERE number = 1");
      await expectRefused(/The books of the backup are NOT correct\./, { file: wrong.filename, withoutManifest: true });

      const bytes = readFileSync(backup.file);
      writeFileSync(wrong.filename, bytes.fill(7, 4_096));
      await expectRefused(/wrong\.db cannot be restored: .*malformed/, { file: wrong.filename, withoutManifest: true });

      writeFileSync(wrong.filename, "a text that is longer than the header of a database".repeat(3));
      const says = /wrong\.db cannot be restored: it is not an SQLite database\./;
      await expectRefused(says, { file: wrong.filename, withoutManifest: true });
    });

    it("if it is a copy beside its log, which may have commits", async () => {
      writeFileSync(`${backup.file}-wal`, "frames");
      await expectRefused(/backup\.db-wal exists: .* Take another copy\./);
    });
  });

  for (const ending of ["", "-wal", "-shm"]) {
    it(`is refused where kesc.db${ending} exists, which stays as it is`, async () => {
      target = source.path("kesc.db");
      writeFileSync(`${target}${ending}`, "precious");
      expect(await problemOf(() => restore())).to.contain(
        `${target}${ending} of DATABASE_URL exists, and nothing is overwritten. Stop the servers`,
      );
      expect(readFileSync(`${target}${ending}`, "utf8")).to.equal("precious");
      expect(readdirSync(source.folder)).to.have.members(["backup.db", "backup.db.json", `kesc.db${ending}`]);
    });
  }
});
