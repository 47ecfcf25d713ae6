import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";

import { expect } from "chai";

import { NewFile } from "../../../src/cli/backup/new-file.js";
import { readMasterKeys } from "../../../src/storage/secrets/master-key.js";
import { verify } from "../../../src/verify/verify.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { TRAFFIC_ROWS } from "../../verify/given/books.js";
import { GivenSource, problemOf } from "./given-backup.js";

const PERMISSIONS = 0o777;

describe("a backup of an SQLite database", () => {
  let source: GivenSource;
  beforeEach(async () => {
    source = await GivenSource.make();
  });
  afterEach(() => source.dispose());

  const modeOf = (name: string): number => statSync(name).mode & PERMISSIONS;

  it("is a file with a manifest, both for their owner alone, whatever the umask", async () => {
    const umask = process.umask(0);
    try {
      await source.backUp();
    } finally {
      process.umask(umask);
    }
    expect(readdirSync(source.folder)).to.have.members(["backup.db", "backup.db.json"]);
    for (const name of ["backup.db", "backup.db.json"]) expect(modeOf(source.path(name))).to.equal(0o600);
  });

  it("says in the manifest what it is: version, time, length, checksum, master keys and heads", async () => {
    const before = Date.now();
    const { file, manifestFile, manifest } = await source.backUp();
    const json = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, unknown>;
    const { heads } = (await verify(source.opened.database)).coverage;
    expect(json).to.deep.equal({
      format: "kesc-backup-1",
      kesc_version: "0.1.0",
      created_at: manifest.createdAt,
      bytes: statSync(file).size,
      sha256: createHash("sha256").update(readFileSync(file)).digest("hex"),
      master_key_ids: readMasterKeys(TEST_MASTER_KEY_FILE).map(({ id }) => id),
      heads: heads.map(({ organizationId, seq, contentHash }) => `${organizationId} ${String(seq)} ${contentHash}`),
    });
    expect(heads).to.have.length(2);
    expect(Date.parse(manifest.createdAt)).to.be.within(before, Date.now());
    expect(readFileSync(manifestFile, "utf8")).not.to.contain(readFileSync(TEST_MASTER_KEY_FILE, "utf8").trim());
  });

  it("has the newest commits, which are only in the log yet", async () => {
    const account = await source.books.createAccount("the newest");
    await source.books.mintOften(account, 100);
    expect(statSync(`${source.address.filename}-wal`).size).to.be.greaterThan(0);
    const { manifest } = await source.backUp();
    expect(manifest.heads.get(source.books.organizationId)?.seq).to.equal(TRAFFIC_ROWS + 101);
  });

  for (const name of ["backup.db", "backup.db.json"]) {
    it(`never overwrites ${name}`, async () => {
      writeFileSync(source.path(name), "precious");
      expect(await problemOf(() => source.backUp())).to.equal(
        `OperatorError: ${source.path(name)} exists, and is not overwritten. Give another name, or move the file away.`,
      );
      expect(readFileSync(source.path(name), "utf8")).to.equal("precious");
      expect(readdirSync(source.folder)).to.deep.equal([name]);
    });
  }

  it("never overwrites a file that came while it was written", () => {
    const file = NewFile.create(source.path("late"));
    writeFileSync(file.part, "ours");
    writeFileSync(file.name, "theirs");
    expect(() => {
      file.publish();
    }).to.throw("exists, and is not overwritten");
    expect(readFileSync(file.name, "utf8")).to.equal("theirs");
  });

  it("refuses a name that another command is writing, and says what to do", async () => {
    const other = NewFile.create(source.path("backup.db"));
    expect(modeOf(other.part)).to.equal(0o600);
    expect(await problemOf(() => source.backUp())).to.match(
      /backup\.db\.part exists: another command is writing the file, or was interrupted\. If none is running, remove it/,
    );
    expect(existsSync(other.part)).to.equal(true);
    other.remove();
    await source.backUp();
  });

  it("is not called one if the books of the copy are wrong, and leaves no file", async () => {
    await execute(source.address, "UPDATE books SET reserve_cents = 5, available_cents = 5 WHERE number = 2");
    const problem = await problemOf(() => source.backUp());
    expect(problem).to.match(/^OperatorError: This is not a backup: the books of the copy are NOT correct\. .*removed/);
    expect(problem).to.contain("expected reserve 0.00, shortfall");
    expect(readdirSync(source.folder)).to.deep.equal([]);
  });

  it("names the folder that is missing", async () => {
    expect(await problemOf(() => source.backUp("missing/backup.db"))).to.contain(
      `cannot be created: there is no folder ${source.path("missing")}.`,
    );
  });
});
