import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { eventually } from "../support/eventually.js";
import { startPostgres } from "../support/postgres.js";
import { expectBooksHold, newAccount, problemOf } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

const RECOVERY_MILLIS_MAX = 20_000;

let mints = 0;

function mint(service: Service, accountId: string): Promise<RestReply> {
  mints += 1;
  // As much text as fits, so that the file grows quickly.
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${String(index)}`, "x".repeat(500)]));
  const body = { account_id: accountId, amount: 1, reference: `mint${String(mints)}`, metadata };
  return service.rest("POST", "/transactions/mint", { body });
}

/** Repeats the call until it meets the fault: a file that is nearly full takes a few more rows. */
async function untilRefused<Reply>(call: () => Promise<Reply>, isGood: (reply: Reply) => boolean): Promise<Reply> {
  for (let tries = 0; tries < 500; tries += 1) {
    const reply = await call();
    if (!isGood(reply)) return reply;
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

describe("a fault of PostgreSQL, which is lost and found again", () => {
  it("is UNAVAILABLE; the server lives, and works again when the fault ends", async () => {
    const postgres = await startPostgres();
    const service = await Service.start("postgres", { DATABASE_URL: await postgres.createDatabase() });
    try {
      const accountId = await newAccount(service, "1.00");
      await postgres.crash();
      await expectUnavailable(service, accountId);
      const read = await service.rest("GET", `/accounts/${accountId}`);
      expect(problemOf(read)).to.include({ status: 503, code: "STORAGE_UNAVAILABLE" });
      await postgres.restart();
      await expectRecovery(service, accountId);
      await expectBooksHold(service);
    } finally {
      await service.dispose();
      await postgres.stop();
    }
  });
});

// Each test heals what it breaks, and the next one finds a service that works.
describe("a fault of SQLite", () => {
  let service: Service;
  let accountId: string;
  before(async () => {
    service = await Service.start("sqlite");
    accountId = await newAccount(service, "1.00");
  });
  after(() => service.dispose());

  async function expectReadyz(status: number): Promise<void> {
    await eventually(async () => (await service.rest("GET", "/readyz")).status === status, {
      millisMax: RECOVERY_MILLIS_MAX,
      what: () => `/readyz never became ${String(status)}: ${service.printed()}`,
    });
  }

  it("of a file that can't grow is UNAVAILABLE; reads go on, and mints when there is room", async function () {
    // Only Linux can set the limit of a running process.
    if (process.platform !== "linux") this.skip();
    const pid = service.pid;
    const limitFileSize = (limit: string): void => {
      execFileSync("prlimit", ["--pid", String(pid), `--fsize=${limit}:`]);
    };
    limitFileSize("400000");
    await expectUnavailable(service, accountId);
    expect((await service.rest("GET", `/accounts/${accountId}`)).status).to.equal(200);
    await expectReadyz(503);

    limitFileSize("unlimited");
    // No call comes while the server is not ready: it finds out by itself that it can write again.
    await expectReadyz(200);
    await expectRecovery(service, accountId);
    await expectBooksHold(service);
  });

  for (const [name, calls, error] of [
    ["can't be written to", "pwrite64", "EIO"],
    ["has become read-only", "pwrite64", "EROFS"],
    ["can't say whether a write is safe", "fsync,fdatasync", "EIO"],
  ] as const) {
    (hasStrace() ? it : it.skip)(
      `of a disk that ${name} (${error}) is UNAVAILABLE; nothing happened, and mints go on when the fault ends`,
      async () => {
        const { text: before } = await service.rest("GET", `/accounts/${accountId}`);
        const file = `${fileOf(service)}-wal`;
        const heal = await failingCalls(service.pid, { calls, error, file });
        try {
          expect(problemOf(await mint(service, accountId))).to.include({ status: 503, code: "STORAGE_UNAVAILABLE" });
          expect((await service.rest("GET", `/accounts/${accountId}`)).text).to.equal(before);
        } finally {
          await heal();
        }
        await expectRecovery(service, accountId);
        await expectBooksHold(service);
      },
    );
  }

  it("of a locked file keeps to the caller's deadline, and a repeat of the call tells the outcome", async () => {
    const body = { account_id: accountId, amount: 1, reference: "late" };
    await whileHeld(service, async () => {
      const headers = { "grpc-timeout": "300m" };
      const rest = await service.rest("POST", "/transactions/mint", { body, headers });
      expect(problemOf(rest)).to.include({ status: 504, code: "OUTCOME_UNKNOWN" });
      // It queues behind the first, which waits for the file: its time is up before it begins.
      const never = { account_id: accountId, amount: "1.00", reference: "never" };
      const grpc = await service.grpc.call("Mint", never, { deadlineMillis: 300 });
      expect(grpc.code).to.equal(4);
    });
    const again = await service.rest("POST", "/transactions/mint", { body });
    expect(again.status).to.equal(200);
    expect(again.headers["idempotent-replayed"]).to.equal("true");
    const listed = await service.rest("GET", "/transactions?reference=never");
    expect(listed.json["transactions"]).to.deep.equal([]);
  });

  it("of a file that is locked for longer than a commit waits is UNAVAILABLE; reads go on, and mints afterwards", async () => {
    const request = { account_id: accountId, amount: "1.00", reference: "waited" };
    await whileHeld(service, async () => {
      const waited = service.grpc.call("Mint", request, { deadlineMillis: 30_000 });
      expect((await service.rest("GET", `/accounts/${accountId}`)).status).to.equal(200);
      expect(await waited).to.include({ code: 14, reason: "STORAGE_UNAVAILABLE", retrySeconds: 1 });
    });
    expect(await service.grpc.call("Mint", request)).to.include({ code: 0, replayed: false });
  });

  it("that is a bug of ours is INTERNAL with the request id and no internal detail, and writes nothing", async () => {
    const other = new BetterSqlite3(fileOf(service));
    try {
      const rowsOf = (): unknown => other.prepare("SELECT count(*) AS rows FROM transactions").get();
      const before = rowsOf();
      // The database refuses a row that the ledger has allowed.
      other.exec("CREATE TRIGGER bug BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'CHECK of journal.seq'); END");
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
      expect(rowsOf()).to.deep.equal(before);
    } finally {
      other.exec("DROP TRIGGER bug");
      other.close();
    }
    await expectRecovery(service, accountId);
  });

  it("of a damaged page is UNAVAILABLE where the page is needed, and a backup of the file repairs all", async () => {
    const minted = await mint(service, accountId);
    const transaction = `/transactions/${String(minted.json["id"])}`;
    const { text: account } = await service.rest("GET", `/accounts/${accountId}`);
    expect(await service.stop()).to.equal(0);
    const backup = readFileSync(fileOf(service));
    writeFileSync(fileOf(service), withDamage(backup, pageOf(fileOf(service), "transactions")));

    await service.start();
    expect(problemOf(await service.rest("GET", transaction))).to.include({
      status: 503,
      code: "STORAGE_UNAVAILABLE",
    });
    await expectUnavailable(service, accountId);
    expect((await service.rest("GET", `/accounts/${accountId}`)).text).to.equal(account);
    const { code, stdout, stderr } = await service.kesc("verify");
    expect(code).to.equal(1);
    expect(stdout + stderr)
      .to.match(/malformed|SQLITE_CORRUPT/)
      .and.contain("restore the last backup: kesc restore FILE");

    expect(await service.stop()).to.equal(0);
    writeFileSync(fileOf(service), backup);
    await service.start();
    expect((await service.rest("GET", transaction)).status).to.equal(200);
    await expectRecovery(service, accountId);
    await expectBooksHold(service);
  });
});

describe("more calls than the queue holds", () => {
  it("are QUEUE_FULL, with a retry delay", async () => {
    const service = await Service.start("sqlite", { KESC_QUEUE_MAX: "2", KESC_BATCH_MAX: "1" });
    try {
      const accountId = await newAccount(service);
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

/** Does the work while another process holds the lock of the file. */
async function whileHeld(service: Service, work: () => Promise<void>): Promise<void> {
  const other = new BetterSqlite3(fileOf(service));
  try {
    other.exec("BEGIN IMMEDIATE");
    await work();
    other.exec("COMMIT");
  } finally {
    other.close();
  }
}

/** Whether strace is here and may inject faults: it makes system calls of a process fail. */
function hasStrace(): boolean {
  return spawnSync("strace", ["-e", "inject=getpid:error=EIO", "true"]).status === 0;
}

/**
 * Makes these system calls of a process fail on the file, until the returned function is called.
 */
async function failingCalls(
  pid: number,
  { calls, error, file }: { calls: string; error: string; file: string },
): Promise<() => Promise<void>> {
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`, "-P", file, "-o", "/dev/null"];
  const strace = spawn("strace", ["-f", "-p", String(pid), ...inject], { stdio: ["ignore", "ignore", "pipe"] });
  // strace prints as soon as it is attached.
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
