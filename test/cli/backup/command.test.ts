import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect } from "chai";

import { restoreBackup } from "../../../src/cli/backup/restore-backup.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { newAccount } from "../../support/service/each-engine.js";
import {
  type Ended,
  environment,
  KESC,
  kesc,
  kescJson,
  RunningKesc,
  type Variables,
} from "../../support/service/kesc.js";
import { Service } from "../../support/service/service.js";

interface BookJson {
  readonly organization_id: string;
  readonly state: string;
  readonly last_sequence: string;
  readonly last_recorded_at: string;
}

interface BackupJson {
  readonly file: string;
  readonly heads: readonly string[];
}

interface RestoreJson {
  readonly books: readonly BookJson[];
  readonly verification: { readonly holds: boolean; readonly coverage: { readonly heads: readonly HeadJson[] } };
}

interface HeadJson {
  readonly organization_id: string;
  readonly seq: number;
  readonly content_hash: string;
}

describe("kesc backup, restore and book", () => {
  let service: Service;
  let folder: string;
  let accountId: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-backup-"));
    service = await Service.start("sqlite");
    accountId = await newAccount(service);
  });
  after(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const path = (name: string): string => join(folder, name);
  const restored = (): Variables => ({ ...service.variables, DATABASE_URL: `sqlite:${path("restored.db")}` });

  /** Mints again and again until `work` is done. Returns its result, and the references. */
  async function whileMinting<Result>(work: Promise<Result>): Promise<[Result, minted: readonly string[]]> {
    const minted: string[] = [];
    let isDone = false;
    const minting = async (): Promise<void> => {
      while (!isDone) {
        const reference = `mint-${String(minted.length)}`;
        const body = { account_id: accountId, amount: 1, reference };
        const { status } = await service.rest("POST", "/transactions/mint", { body });
        if (status !== 201) throw new Error(`a mint ended with ${String(status)}`);
        minted.push(reference);
      }
    };
    const [result] = await Promise.all([work.finally(() => (isDone = true)), minting()]);
    return [result, minted];
  }

  it("back up while a server commits, and restore exactly what the manifest names", async () => {
    const [ended, minted] = await whileMinting(service.kesc("backup", path("backup.db"), "--json"));
    expect(ended.stderr).to.equal("");
    const backup = JSON.parse(ended.stdout) as BackupJson;
    expect(backup.file).to.equal(path("backup.db"));
    const [line = ""] = backup.heads.filter((head) => head.startsWith(service.a.organizationId));
    expect(Number(line.split(" ")[1])).to.be.within(3, 3 + minted.length);

    const { code, stdout, stderr } = await kesc(["restore", path("backup.db"), "--json"], restored());
    expect(code, stderr).to.equal(0);
    const { books, verification } = JSON.parse(stdout) as RestoreJson;
    expect(verification.holds).to.equal(true);
    expect(
      verification.coverage.heads.map(
        ({ organization_id: id, seq, content_hash: hash }) => `${id} ${String(seq)} ${hash}`,
      ),
    ).to.have.members(backup.heads);
    expect(books.map(({ state }) => state)).to.deep.equal(["restored", "restored"]);
  });

  it("list the books, and open one when the operator insists", async () => {
    const { organizationId } = service.a;
    const intent = await kesc(["book", "activate", organizationId], restored());
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.match(
      /^This would open the book of org_\S+ \("A"\), .* missing in this book: .* Nothing was done\. To open the book, add --yes\.\n$/,
    );
    const { code } = await kescJson<{ code: string }>(["confirm-restore"], restored());
    await kesc(["confirm-restore", "--yes", code], restored());
    const opened = await kesc(["book", "activate", "A", "--yes"], restored());
    expect(opened).to.deep.equal({ code: 0, stdout: `The book of ${organizationId} ("A") is open.\n`, stderr: "" });
    const [table, json] = await Promise.all([
      kesc(["book", "list"], restored()),
      kesc(["book", "list", "--json"], restored()),
    ]);
    expect(table.stdout).to.match(
      /^ORGANIZATION +STATE +SEQUENCE +LAST ROW +NAME\norg_\S+ +open +[0-9]+ .*\n.* restored +2 /,
    );
    const books = JSON.parse(json.stdout) as readonly BookJson[];
    expect(books.map(({ state }) => state)).to.deep.equal(["open", "restored"]);
    expect(books[0]?.last_recorded_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("set the books of a database to RESTORED that other tools have restored, and find what it lacks", async () => {
    const heads = path("heads");
    const body = { account_id: accountId, amount: 1, reference: "after-the-backup" };
    expect((await service.rest("POST", "/transactions/mint", { body })).status).to.equal(201);
    await kesc(["verify", "--write-heads", heads], service.variables);
    const intent = await kesc(["restore", "--in-place"], restored());
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.match(/^This would set 1 of 2 books to RESTORED\. .* To do it, add --yes\.\n$/);
    const { code, stdout } = await kesc(["restore", "--in-place", "--heads", heads, "--yes"], restored());
    expect(code).to.equal(1);
    expect(stdout).to.match(/The books are NOT correct\. .*\n.* found the book ends at seq [0-9]+\n/);
    expect(stdout).to.match(new RegExp(`${service.a.organizationId} RESTORED, seq [0-9]+ of `));
  });

  it("say what is wrong with the command line, and where PostgreSQL's chapter is", async () => {
    const onPostgres = { ...service.variables, DATABASE_URL: "postgres://kesc@127.0.0.1:1/books" };
    const rows = [
      [["backup", path("other.db")], onPostgres, /PostgreSQL has its own tools .* docs\/run\.md/],
      [["restore", path("backup.db")], onPostgres, /kesc restore --in-place.* docs\/run\.md/],
      [["restore"], {}, /Give the FILE of a backup, or --in-place/],
      [["restore", path("backup.db"), "--in-place"], {}, /Give the FILE of a backup, or --in-place/],
      [["restore", path("backup.db"), "--yes"], {}, /--heads and --yes belong to --in-place/],
      [["restore", "--in-place", "--without-manifest"], {}, /--without-manifest belongs to the FILE/],
    ] as const;
    const ended = await Promise.all(
      rows.map(([args, variables]) => kesc(args, { ...service.variables, ...variables })),
    );
    for (const [index, [, , says]] of rows.entries()) {
      expect(ended[index]).to.include({ code: 2, stdout: "" });
      expect(ended[index]?.stderr).to.match(says);
    }
    const chapter = "Back up and restore PostgreSQL";
    expect(ended[0]?.stderr).to.contain(chapter);
    expect(readFileSync("docs/run.md", "utf8")).to.contain(`## ${chapter}\n`);
  });

  it("leave no file when the disk refuses", async () => {
    const limited = 'ulimit -f 64; exec "$0" "$@"'; // 64 KiB
    const command = [process.execPath, KESC, "backup", path("refused.db")];
    const ended = await promisify(execFile)("bash", ["-c", limited, ...command], {
      env: environment(service.variables),
    }).catch((error: unknown) => error as Ended);
    expect(ended).to.include({ code: 1, stdout: "" });
    expect(ended.stderr).to.match(/refused\.db was not written: .+\. No backup was made\.\n$/);
    expect(readdirSync(folder).filter((name) => name.startsWith("refused"))).to.deep.equal([]);
  });

  it("leave no file that looks complete when they are killed", async () => {
    const file = path("killed.db");
    const appeared = new Promise<void>((resolve) => {
      const watcher = watch(folder, () => {
        watcher.close();
        resolve();
      });
    });
    const running = new RunningKesc(["backup", file], service.variables, { ownGroup: true });
    running.ready.catch(() => undefined);
    await appeared;
    await running.killGroup();
    // The process may have been faster. Then the backup is whole.
    const address = { engine: "sqlite", filename: path("after.db"), masterKeyFile: TEST_MASTER_KEY_FILE } as const;
    if (existsSync(file)) expect((await restoreBackup(address, file)).books).to.have.length(2);
    else expect(statSync(`${file}.part`).isFile()).to.equal(true);
  });
});
