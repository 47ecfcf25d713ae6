import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { listBooks } from "../../../src/storage/books.js";
import { migrate } from "../../../src/storage/migrate.js";
import { writeHeads } from "../../../src/verify/heads.js";
import { verify } from "../../../src/verify/verify.js";
import { openDatabaseAt } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { PostgresNode } from "../../support/postgres-node.js";
import { kesc, kescJson } from "../../support/service/kesc.js";
import { GivenBooks, makeTraffic, TRAFFIC_ROWS } from "../../verify/given/books.js";

// The steps are those of docs/run.md, with PostgreSQL's low-level interface in the place of
// pg_basebackup, which the package of the tests does not have.
describe("PostgreSQL's base backup and archive", () => {
  let folder: string;
  let archive: string;
  let heads: string;
  let primary: PostgresNode;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-archive-"));
    archive = join(folder, "archive");
    heads = join(folder, "heads");
    mkdirSync(archive);
    // PostgreSQL may run as another user.
    for (const each of [folder, archive]) chmodSync(each, 0o777);
    primary = await PostgresNode.create();
    await primary.start({
      archive_mode: "on",
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
    });
  });
  after(async () => {
    await primary.end("SIGQUIT");
    primary.removeData();
    rmSync(folder, { recursive: true, force: true });
  });

  it("give the books of one moment back, RESTORED, with all rows that were noted before", async () => {
    const url = await primary.createDatabase("books");
    const database = await openDatabaseAt(url);
    for (const cell of database.cells) await migrate(cell);
    const books = await GivenBooks.open(database, "Duka");
    const recoveryOf = await primary.backUp("base", { archive });
    await makeTraffic(books);
    writeHeads(heads, (await verify(database)).coverage.heads);
    const [{ moment } = {}] = await primary.query("SELECT CAST(clock_timestamp() AS text) AS moment");
    await books.createAccount("too late");
    await database.close();
    const [{ segment } = {}] = await primary.query("SELECT pg_walfile_name(pg_switch_wal()) AS segment");
    await eventually(() => readdirSync(archive).includes(String(segment)), { millisMax: 30_000 });
    await primary.kill();

    const restored = recoveryOf(String(moment));
    try {
      await restored.start();
      const isPrimary = async (): Promise<boolean> =>
        (await restored.query("SELECT pg_is_in_recovery() AS recovering"))[0]?.["recovering"] === false;
      await eventually(isPrimary, { millisMax: 30_000 });
      const variables = { DATABASE_URL: url.replace(String(primary.port), String(restored.port)) };
      const { code, stdout, stderr } = await kesc(["restore", "--in-place", "--heads", heads, "--yes"], variables);
      expect(code, stdout + stderr).to.equal(0);
      expect(stdout).to.contain("1 of 1 books compared with noted heads.");
      const listed = await kescJson<{ readonly code: string }>(["confirm-restore", "--heads", heads], variables);
      expect(listed).to.have.nested.property("books[0].rows_missing", 0);
      const { confirmed } = await kescJson<{ confirmed: true }>(["confirm-restore", "--yes", listed.code], variables);
      expect(confirmed).to.equal(true);
      const found = await openDatabaseAt(variables.DATABASE_URL);
      const [book] = await listBooks(found);
      await found.close();
      expect(book).to.deep.include({ name: "Duka", state: "RESTORED", lastSeq: TRAFFIC_ROWS });
    } finally {
      await restored.end("SIGINT");
    }
  });
});
