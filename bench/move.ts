/**
 * `make move`: moves an organization with a million transactions from SQLite to PostgreSQL, with
 * the commands of an operator. Prints how long each step takes and its peak memory, and compares
 * the balances, the sequence, the seals and proofs of both places.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import type { OrganizationId } from "../src/domain/values/ids.js";
import { createSealKeyFile, readSealKeys } from "../src/seals/key-file.js";
import { consistencyProof, inclusionProof } from "../src/seals/proofs.js";
import { Sealer } from "../src/seals/sealer.js";
import { now } from "../src/startup/clock.js";
import { type Cell, type Database, openDatabase } from "../src/storage/database.js";
import { keys } from "../src/storage/keys.js";
import { sealReads, sealStore } from "../src/storage/seals/seal-store.js";
import { BATCH, CellLoad } from "./full/cell-load.js";
import { query } from "./full/sql-ledger.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { tableOf } from "./report/table.js";
import { residentMebibytes } from "./servers/process-stats.js";
import { progress } from "./stage.js";

const USAGE = `node dist/bench/move.js [options], with the URL of a PostgreSQL server in POSTGRES_URL
  --transactions <n>  mints of the organization (1000000)`;
const KESC = kescAt(REPOSITORY);
const OUT = join(REPOSITORY, "bench/out");
const SAMPLE_MILLIS = 100;
const MEGABYTE = 1_000_000;
const PROOFS = 50;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({ options: { transactions: { type: "string", default: "1000000" } } });
  const url = process.env["POSTGRES_URL"];
  if (url === undefined) throw new Error("POSTGRES_URL is not set");
  const range = { min: BATCH, max: 100_000_000 };
  return { url: new URL(url), transactions: wholeNumberOf("--transactions", values.transactions, range) };
});

mkdirSync(OUT, { recursive: true });
const folder = mkdtempSync(join(OUT, "move-"));
const file = join(folder, "book.ndjson");
const target = Object.assign(new URL(options.url), { pathname: `/move_${String(Date.now())}` });
const common = {
  KESC_MASTER_KEY_FILE: join(folder, "master.key"),
  KESC_SEAL_KEY_FILE: join(folder, "seal.key"),
};
const source = { ...common, DATABASE_URL: `sqlite:${join(folder, "kesc.db")}` };
const destination = { ...common, DATABASE_URL: target.href };

interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly peakMebibytes: number;
  readonly stdout: string;
}

/** Runs one kesc command, and looks at its memory ten times a second. */
async function step(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Step> {
  progress(`kesc ${args.slice(0, 2).join(" ")}`);
  const startedAt = performance.now();
  const child: ChildProcess = spawn(KESC, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [peakMebibytes, stdout] = [0, ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const sampling = setInterval(() => {
    peakMebibytes = Math.max(peakMebibytes, residentMebibytes(child.pid) || 0);
  }, SAMPLE_MILLIS);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearInterval(sampling);
  if (code !== 0) throw new Error(`kesc ${args.join(" ")} ended with ${String(code)}`);
  return { name, seconds: (performance.now() - startedAt) / 1_000, peakMebibytes, stdout };
}

async function within<Result>(place: "source" | "target", work: (cell: Cell) => Promise<Result>): Promise<Result> {
  const masterKeyFile = common.KESC_MASTER_KEY_FILE;
  const database: Database = await openDatabase(
    place === "source"
      ? { engine: "sqlite", filename: join(folder, "kesc.db"), masterKeyFile }
      : { engine: "postgres", url: target.href, connectionsMax: 4, masterKeyFile },
    { statementMillisMax: 0 },
  );
  try {
    return await work(database.cells[0]);
  } finally {
    await database.close();
  }
}

/** Mints, and seals half of the rows before the others, so that one seal follows another. */
async function fill(): Promise<OrganizationId> {
  createSealKeyFile(common.KESC_SEAL_KEY_FILE);
  return within("source", async (cell) => {
    const { id } = await keys({ cells: [cell] } as unknown as Database, now).createOrganization("Duka");
    const load = await CellLoad.open(cell, id);
    const half = Math.ceil(options.transactions / BATCH / 2);
    for (const [index, part] of ["the first half", "the second half"].entries()) {
      progress(`minting ${part} of ${String(options.transactions)}`);
      await load.mint(index === 0 ? half : Math.ceil(options.transactions / BATCH) - half);
      progress(`sealing ${part}`);
      await sealer(cell).sealAll();
    }
    return id;
  });
}

function sealer(cell: Cell): Sealer {
  const { privateKey } = readSealKeys(common.KESC_SEAL_KEY_FILE);
  return new Sealer({
    store: sealStore(cell),
    lease: { leftMillis: () => 1_000 },
    timing: { now, monotonicMillis: () => performance.now(), wait: () => Promise.resolve() },
    origin: "move",
    privateKey: () => privateKey,
    memory: { of: () => undefined, add: () => undefined },
    onAlarm: (_, { problem }) => {
      throw new Error(problem);
    },
    onError: (error) => {
      throw error;
    },
  });
}

interface Facts {
  readonly book: string;
  readonly balances: string;
  readonly proofs: string;
}

/** What both places must have alike: the book's row, all balances, the seals, and proofs. */
function factsOf(place: "source" | "target", organizationId: OrganizationId): Promise<Facts> {
  return within(place, async (cell) => {
    const { table } = cell.engine;
    const rows = (sql: string): Promise<readonly unknown[]> => cell.reader.rows(sql, [organizationId]);
    const reads = sealReads(cell);
    const book = await reads.book(organizationId);
    const seal = book === undefined ? undefined : await reads.seal(book);
    if (book === undefined || seal === undefined) throw new Error(`${place} has no seal of the book`);
    const proofs: string[] = [Buffer.from(seal.root).toString("hex")];
    const note = (hashes: readonly Uint8Array[]): number => proofs.push(Buffer.concat(hashes).toString("hex"));
    for (let index = 0; index < PROOFS; index += 1) {
      const seq = 1 + Math.floor((index * (seal.size - 1)) / PROOFS);
      note((await inclusionProof(reads, book, { seq, size: seal.size })).hashes);
      note((await consistencyProof(reads, book, { from: seq, size: seal.size })).hashes);
    }
    return {
      book: JSON.stringify(
        await rows(
          `SELECT last_seq, last_recorded_at, reserve_cents, shortfall_cents, available_cents, held_cents,
             unallocated_cents FROM ${table("books")} WHERE organization_id = ?`,
        ),
      ),
      balances: JSON.stringify(
        await rows(
          `SELECT a.id, a.seq, a.last_seq, a.available_cents, a.held_cents FROM ${table("accounts")} a
           JOIN ${table("books")} b ON b.number = a.book WHERE b.organization_id = ? ORDER BY a.seq`,
        ),
      ),
      proofs: JSON.stringify(proofs),
    };
  });
}

try {
  await query(options.url.href, `CREATE DATABASE ${target.pathname.slice(1)}`);
  for (const place of [source, destination]) await step("migrate", ["migrate"], place);
  const id = await fill();
  const steps = [await step("export", ["book", "export", id, file, "--yes"], source)];
  const before = await factsOf("source", id);
  steps.push(await step("import and verify", ["book", "import", file, "--full-speed"], destination));
  const [, arrived = ""] = /--arrived (\S+)/.exec(steps[1]?.stdout ?? "") ?? [];
  steps.push(await step("release", ["book", "release", id, "--arrived", arrived, "--to", "postgres"], source));
  const [, released = ""] = /--released (\S+)/.exec(steps[2]?.stdout ?? "") ?? [];
  steps.push(await step("activate", ["book", "activate", id, "--released", released], destination));
  const after = await factsOf("target", id);
  const differing = (["book", "balances", "proofs"] as const).filter((name) => before[name] !== after[name]);
  process.stdout.write(
    `${String(options.transactions)} transactions, a file of ${(statSync(file).size / MEGABYTE).toFixed(0)} MB\n\n` +
      `${tableOf([
        ["", "seconds", "peak MiB"],
        ...steps.map(({ name, seconds, peakMebibytes }) => [name, seconds.toFixed(1), peakMebibytes.toFixed(0)]),
      ])}\n\n${before.book}\n` +
      (differing.length === 0
        ? `the book, all balances, the seals and ${String(2 * PROOFS)} proofs are the same at both places\n`
        : `DIFFERENT: ${differing.join(", ")}\n`),
  );
  if (differing.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
