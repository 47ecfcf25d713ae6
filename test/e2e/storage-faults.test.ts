import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { eventually } from "../support/eventually.js";
import { type PostgresServer, startPostgres } from "../support/postgres.js";
import { problemOf } from "../support/service/each-engine.js";
import { expectBooksHold } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

const RECOVERY_MILLIS_MAX = 20_000;

describe("a fault of the storage", () => {
  let mints = 0;

  async function createAccount(service: Service): Promise<string> {
    const body = { user_id: "user", phone_number: "0712345678" };
    return String((await service.rest("POST", "/accounts", { body })).json["id"]);
  }

  function mint(service: Service, accountId: string): Promise<RestReply> {
    mints += 1;
    // As much text as fits, so that the file grows quickly.
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`k${String(index)}`, "x".repeat(500)]),
    );
    const body = { account_id: accountId, amount: 1, reference: `mint${String(mints)}`, metadata };
    return service.rest("POST", "/transactions/mint", { body });
  }

  /**
   * A file that is nearly full takes a few more: the fault is there when the first call meets it.
   */
  async function untilRefused<Answer>(
    call: () => Promise<Answer>,
    isGood: (answer: Answer) => boolean,
  ): Promise<Answer> {
    for (let tries = 0; tries < 500; tries += 1) {
      const answer = await call();
      if (!isGood(answer)) return answer;
    }
    throw new Error("the fault did not show");
  }

  async function expectUnavailable(service: Service, accountId: string): Promise<void> {
    const rest = await untilRefused(
      () => mint(service, accountId),
      ({ status }) => status === 201,
    );
    expect(problemOf(rest)).to.include({ status: 503, code: "STORAGE_UNAVAILABLE" });
    expect(Number(rest.headers["retry-after"])).to.be.greaterThan(0);
    const grpc = await untilRefused(
      () =>
        service.grpc.call("Mint", { account_id: accountId, amount: "1.00", reference: `small${String((mints += 1))}` }),
      ({ code }) => code === 0,
    );
    expect(grpc).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
  }

  async function expectRecovery(service: Service, accountId: string): Promise<void> {
    await eventually(async () => (await mint(service, accountId)).status === 201, {
      millisMax: RECOVERY_MILLIS_MAX,
      what: () => `did not recover: ${service.printed()}`,
    });
  }

  describe("of PostgreSQL, lost and found again", () => {
    let postgres: PostgresServer;
    let service: Service;
    before(async () => {
      postgres = await startPostgres();
      service = await Service.start("postgres", { DATABASE_URL: await postgres.createDatabase() });
    });
    after(async () => {
      await service.dispose();
      await postgres.stop();
    });

    it("answers UNAVAILABLE, lives, and works again when the fault ends", async () => {
      const accountId = await createAccount(service);
      expect((await mint(service, accountId)).status).to.equal(201);
      await postgres.crash();
      await expectUnavailable(service, accountId);
      const read = await service.rest("GET", `/accounts/${accountId}`);
      expect(problemOf(read)).to.include({ status: 503, code: "STORAGE_UNAVAILABLE" });
      await postgres.restart();
      await expectRecovery(service, accountId);
      await expectBooksHold(service);
    });
  });

  describe("of SQLite, a file that can't grow", () => {
    let service: Service;
    before(async function () {
      // The limit of a running process is set with Linux's own means.
      if (process.platform !== "linux") this.skip();
      service = await Service.start("sqlite");
    });
    after(() => service.dispose());

    it("answers UNAVAILABLE, lives, still reads, and works again when there is room", async () => {
      const accountId = await createAccount(service);
      expect((await mint(service, accountId)).status).to.equal(201);

      const pid = await serverPid(service);
      const limitFileSize = (limit: string): void => {
        execFileSync("prlimit", ["--pid", String(pid), `--fsize=${limit}:`]);
      };
      limitFileSize("400000");
      await expectUnavailable(service, accountId);
      expect((await service.rest("GET", `/accounts/${accountId}`)).status).to.equal(200);

      limitFileSize("unlimited");
      await expectRecovery(service, accountId);
      await expectBooksHold(service);
    });
  });

  (hasStrace() ? describe : describe.skip)("of SQLite, a disk that fails", () => {
    let service: Service;
    let accountId: string;
    before(async () => {
      service = await Service.start("sqlite");
      accountId = await createAccount(service);
    });
    after(() => service.dispose());

    for (const [name, calls, error] of [
      ["that can't be written to", "pwrite64", "EIO"],
      ["that has become read-only", "pwrite64", "EROFS"],
      ["that can't say whether what was written is safe", "fsync,fdatasync", "EIO"],
    ] as const) {
      it(`${name} (${error}): UNAVAILABLE, nothing happened, and works again when the fault ends`, async () => {
        const { text: before } = await service.rest("GET", `/accounts/${accountId}`);
        const file = `${fileOf(service)}-wal`;
        const heal = await failingCalls(await serverPid(service), { calls, error, file });
        try {
          expect(problemOf(await mint(service, accountId))).to.include({ status: 503, code: "STORAGE_UNAVAILABLE" });
          expect((await service.rest("GET", `/accounts/${accountId}`)).text).to.equal(before);
        } finally {
          await heal();
        }
        await expectRecovery(service, accountId);
        await expectBooksHold(service);
      });
    }
  });

  it("of SQLite, held by another process: the caller's deadline counts, and the same call again tells the outcome", async () => {
    const service = await Service.start("sqlite");
    const other = new BetterSqlite3(fileOf(service));
    try {
      const accountId = await createAccount(service);
      other.exec("BEGIN IMMEDIATE");
      const body = { account_id: accountId, amount: 1, reference: "late" };
      const headers = { "grpc-timeout": "300m" };
      const rest = await service.rest("POST", "/transactions/mint", { body, headers });
      expect(problemOf(rest)).to.include({ status: 504, code: "DEADLINE_EXCEEDED" });
      // Behind the first, which waits for the file: its time is up before it begins.
      const never = { account_id: accountId, amount: "1.00", reference: "never" };
      const grpc = await service.grpc.call("Mint", never, { deadlineMillis: 300 });
      expect(grpc.code).to.equal(4);

      other.exec("COMMIT");
      const again = await service.rest("POST", "/transactions/mint", { body });
      expect(again.status).to.equal(200);
      expect(again.headers["idempotent-replayed"]).to.equal("true");
      const listed = await service.rest("GET", "/transactions?reference=never");
      expect(listed.json["transactions"]).to.deep.equal([]);
    } finally {
      other.close();
      await service.dispose();
    }
  });

  it("of SQLite, held by another process for longer than a commit waits: UNAVAILABLE, and works again when it lets go", async () => {
    const service = await Service.start("sqlite");
    const other = new BetterSqlite3(fileOf(service));
    try {
      const accountId = await createAccount(service);
      const request = { account_id: accountId, amount: "1.00", reference: "waited" };
      other.exec("BEGIN IMMEDIATE");
      const waited = service.grpc.call("Mint", request, { deadlineMillis: 30_000 });
      expect((await service.rest("GET", `/accounts/${accountId}`)).status).to.equal(200);
      expect(await waited).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
      other.exec("COMMIT");
      const again = await service.grpc.call("Mint", request);
      expect(again.code).to.equal(0);
      expect(again.replayed).to.equal(false);
    } finally {
      other.close();
      await service.dispose();
    }
  });

  it("of SQLite, a damaged page: what needs it is UNAVAILABLE, the rest goes on, and a backup in its place heals all", async () => {
    const service = await Service.start("sqlite");
    try {
      const accountId = await createAccount(service);
      const minted = await mint(service, accountId);
      const transaction = `/transactions/${String(minted.json["id"])}`;
      expect(await service.stop()).to.equal(0);
      const backup = readFileSync(fileOf(service));
      writeFileSync(fileOf(service), withDamage(backup, pageOf(fileOf(service), "transactions")));

      await service.start();
      expect(problemOf(await service.rest("GET", transaction))).to.include({
        status: 503,
        code: "STORAGE_UNAVAILABLE",
      });
      await expectUnavailable(service, accountId);
      const account = await service.rest("GET", `/accounts/${accountId}`);
      expect(account.text).to.contain('"available_balance":1.00');
      const { code, stdout, stderr } = await service.kesc("verify");
      expect(code).to.equal(1);
      expect(stdout + stderr)
        .to.match(/malformed|SQLITE_CORRUPT/)
        .and.contain("put the last backup in its place");

      expect(await service.stop()).to.equal(0);
      writeFileSync(fileOf(service), backup);
      await service.start();
      expect((await service.rest("GET", transaction)).status).to.equal(200);
      await expectRecovery(service, accountId);
      await expectBooksHold(service);
    } finally {
      await service.dispose();
    }
  });

  it("that is a bug: answers INTERNAL with the request id and nothing from inside, and writes nothing", async () => {
    const service = await Service.start("sqlite");
    const other = new BetterSqlite3(fileOf(service));
    try {
      const accountId = await createAccount(service);
      other.exec("DELETE FROM journal_head");
      const headers = { "x-request-id": "what-was-that" };
      const body = { account_id: accountId, amount: 1, reference: "buggy" };
      const rest = await service.rest("POST", "/transactions/mint", { body, headers });
      expect(problemOf(rest)).to.include({ status: 500, code: "INTERNAL" });
      expect(rest.json["request_id"]).to.equal("what-was-that");
      const request = { account_id: accountId, amount: "1.00", reference: "buggy" };
      const grpc = await service.grpc.call("Mint", request, { metadata: headers });
      expect(grpc).to.include({ code: 13, reason: "INTERNAL" });
      expect(grpc.facts?.["request_id"]).to.equal("what-was-that");
      for (const said of [rest.text, grpc.message]) expect(said).to.not.match(/journal|CHECK|SQL|seq/);
      expect(other.prepare("SELECT count(*) AS rows FROM transactions").get()).to.deep.equal({ rows: 0 });
    } finally {
      other.close();
      await service.dispose();
    }
  });

  it("answers QUEUE_FULL where more wait than may, with a time to come back", async () => {
    const service = await Service.start("sqlite", { KESC_QUEUE_MAX: "2", KESC_BATCH_MAX: "1" });
    try {
      const accountId = await createAccount(service);
      const rest = await Promise.all(Array.from({ length: 60 }, () => mint(service, accountId)));
      const full = rest.find(({ status }) => status === 429);
      expect(full?.json).to.include({ code: "QUEUE_FULL" });
      expect(Number(full?.headers["retry-after"])).to.be.greaterThan(0);
      expect(rest.every(({ status }) => status === 201 || status === 429)).to.equal(true);

      const grpc = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          service.grpc.call("Mint", { account_id: accountId, amount: "1.00", reference: `grpc${String(index)}` }),
        ),
      );
      expect(grpc.find(({ code }) => code === 8)).to.include({ reason: "QUEUE_FULL", retrySeconds: 1 });
    } finally {
      await service.dispose();
    }
  });
});

/** Of Linux; it makes the kernel's answers to a process what one likes. */
function hasStrace(): boolean {
  return spawnSync("strace", ["-e", "inject=getpid:error=EIO", "true"]).status === 0;
}

/** Has these calls of a process fail on the file until the answer is called. */
async function failingCalls(
  pid: number,
  { calls, error, file }: { calls: string; error: string; file: string },
): Promise<() => Promise<void>> {
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`, "-P", file, "-o", "/dev/null"];
  const strace = spawn("strace", ["-f", "-p", String(pid), ...inject], { stdio: ["ignore", "ignore", "pipe"] });
  // Its first words: it is there.
  await once(strace.stderr, "data");
  return async () => {
    const exited = once(strace, "exit");
    strace.kill("SIGINT");
    await exited;
  };
}

function fileOf(service: Service): string {
  return service.databaseUrl.replace("sqlite:", "");
}

/** The number of the table's first page; pages count from 1. */
function pageOf(filename: string, table: string): number {
  const connection = new BetterSqlite3(filename, { readonly: true });
  try {
    const select = connection.prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?");
    return select.pluck().get(table) as number;
  } finally {
    connection.close();
  }
}

function withDamage(database: Buffer, page: number): Buffer {
  const pageBytes = database.readUInt16BE(16); // https://www.sqlite.org/fileformat.html#page_size
  return Buffer.from(database).fill(0xa5, (page - 1) * pageBytes, page * pageBytes);
}

async function serverPid(service: Service): Promise<number> {
  const pid = (await service.children()).get("server");
  if (pid === undefined) throw new Error("kesc serve has no server");
  return pid;
}
