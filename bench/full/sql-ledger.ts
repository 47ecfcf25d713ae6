import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import pg from "pg";

import { REPOSITORY } from "../options.js";
import type { Probe } from "../probe.js";
import type { Stage } from "../stage.js";

const CONNECTIONS = 16;
const THREADS = 2;
const ACCOUNTS = 100;
const AMOUNT_CENTS = 125_000;
const DEBIAN = "/usr/lib/postgresql";

// A variable keeps its value from one transaction of a connection to the next: n counts.
const SCRIPT = `\\set n :n + 1
\\set account random(1, ${String(ACCOUNTS)})
SELECT mint(:account, ${String(AMOUNT_CENTS)}, 'bench-' || :run || '-' || :client_id || '-' || :n);
`;

export interface SqlLedger {
  probe: Probe;
  /** Compares the ledger with its acknowledged mints. */
  check: () => Promise<void>;
}

/** The path of pgbench, PostgreSQL's own load program: on the PATH, or where Debian has it. */
export function findPgbench(): string {
  const onPath = (process.env["PATH"] ?? "").split(":");
  const ofDebian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  const found = [...onPath, ...ofDebian].map((folder) => join(folder, "pgbench")).find((file) => existsSync(file));
  if (found === undefined) throw new Error("The part postgres needs pgbench: install PostgreSQL's own package");
  return found;
}

/** The ledger of sql-ledger.sql in an empty database, loaded by pgbench. */
export async function sqlLedger(stage: Stage, databaseUrl: string, pgbench: string): Promise<SqlLedger> {
  await query(databaseUrl, readFileSync(join(REPOSITORY, "bench/full/sql-ledger.sql"), "utf8"));
  const script = join(stage.folder, "script.pgbench");
  writeFileSync(script, SCRIPT);
  let run = 0;
  let mints = 0;
  const measure: Probe["measure"] = async (seconds) => {
    // It counts in whole seconds.
    const time = String(Math.max(1, Math.round(seconds)));
    const load = ["-n", "-M", "prepared", "-c", String(CONNECTIONS), "-j", String(THREADS), "-T", time];
    const source = ["-f", script, "-D", "n=0", "-D", `run=${String(++run)}`];
    const { stdout } = await promisify(execFile)(pgbench, [...load, ...source, databaseUrl]);
    mints += numberIn(stdout, /^number of transactions actually processed: ([0-9]+)/m);
    const callsPerSecond = numberIn(stdout, /^tps = ([0-9.]+) /m);
    return { callsPerSecond, p50Millis: null, p99Millis: null, loadBusy: null, mainMicros: null, otherMicros: null };
  };
  return {
    probe: { name: `SQL function, ${String(CONNECTIONS)} connections`, measure },
    check: async () => {
      const [found] = await query(
        databaseUrl,
        `SELECT (SELECT count(*) FROM transactions) AS transactions,
                (SELECT count(DISTINCT transaction_id) FROM journal) AS journaled,
                (SELECT sum(amount_cents) FROM journal) AS posted,
                (SELECT sum(balance_cents) FROM accounts) AS balances,
                (SELECT sum(balance_cents) FROM reserve) AS reserve`,
      );
      const cents = mints * AMOUNT_CENTS;
      const expected = { transactions: mints, journaled: mints, posted: cents, balances: cents, reserve: cents };
      for (const [name, value] of Object.entries(expected)) {
        const actual = String(found?.[name]);
        if (actual !== String(value)) stage.blame(`the SQL ledger's ${name}: ${actual}, not ${String(value)}`);
      }
    },
  };
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`pgbench did not say ${pattern.source}: ${text}`);
  return Number(found);
}

/** Runs SQL on a connection of its own. Returns the rows of the last statement. */
export async function query(databaseUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
