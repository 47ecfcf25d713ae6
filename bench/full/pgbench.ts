import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { type Sample, sampleOf } from "./probe.js";
import { AMOUNT_CENTS, query, type SqlMints } from "./sql-ledger.js";
import type { Stage } from "./stage.js";

const DEBIAN = "/usr/lib/postgresql";
const THREADS = 2;
const TPC_B_SCALE = 10;
const LOG_PREFIX = "pgbench-log";

// A variable keeps its value from one transaction of a connection to the next: n counts.
const scriptOf = ({ statement }: SqlMints): string => `\\set n :n + 1
\\set account random(1, :accounts)
${statement
  .replace("$1", ":account")
  .replace("$2", String(AMOUNT_CENTS))
  .replace("$3", "'bench-' || :run || '-' || :client_id || '-' || :n")};
`;

/** What one run did. */
interface PgbenchRun {
  sample: Sample;
  transactions: number;
}

/** PostgreSQL's own load program, in C. */
export class Pgbench {
  readonly #program: string;
  readonly #folder: string;

  constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** Mints in SQL over `connections` connections, each with one call at a time. */
  mint(
    databaseUrl: string,
    { connections, seconds, run, mints }: { connections: number; seconds: number; run: number; mints: SqlMints },
  ): Promise<PgbenchRun> {
    const script = join(this.#folder, "mint.pgbench");
    writeFileSync(script, scriptOf(mints));
    const variables = { n: 0, run, accounts: mints.accounts };
    const defines = Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${String(value)}`]);
    return this.#run(databaseUrl, { connections, seconds, args: ["-f", script, ...defines] });
  }

  /** Makes the tables of its TPC-B-like transaction in an empty database. */
  async prepareTpcB(databaseUrl: string): Promise<void> {
    await promisify(execFile)(this.#program, ["-i", "-q", "-s", String(TPC_B_SCALE), databaseUrl]);
  }

  /**
   * Runs its TPC-B-like transaction: three updates, a select and an insert, without a check of
   * references.
   */
  tpcB(databaseUrl: string, options: { connections: number; seconds: number }): Promise<PgbenchRun> {
    return this.#run(databaseUrl, { ...options, args: [] });
  }

  async #run(
    databaseUrl: string,
    { connections, seconds, args }: { connections: number; seconds: number; args: string[] },
  ): Promise<PgbenchRun> {
    const { stdout } = await promisify(execFile)(
      this.#program,
      [
        ...["-n", "-M", "prepared", "-c", String(connections), "-j", String(THREADS)],
        // It counts in whole seconds.
        ...["-T", String(Math.max(1, Math.round(seconds))), "-l", "--log-prefix", LOG_PREFIX],
        ...args,
        databaseUrl,
      ],
      { cwd: this.#folder },
    );
    const callsPerSecond = numberIn(stdout, /^tps = ([0-9.]+) /m);
    const transactions = numberIn(stdout, /^number of transactions actually processed: ([0-9]+)/m);
    const sample = { ...sampleOf(this.#takeLatencies(), seconds), callsPerSecond };
    return { sample, transactions };
  }

  /**
   * The latencies in milliseconds of the last run, from its logs: "client transaction microseconds
   * script seconds microseconds".
   */
  #takeLatencies(): number[] {
    const logs = readdirSync(this.#folder).filter((file) => file.startsWith(LOG_PREFIX));
    return logs.flatMap((file) => {
      const log = join(this.#folder, file);
      const lines = readFileSync(log, "utf8").trimEnd().split("\n");
      rmSync(log);
      return lines.map((line) => Number(line.split(" ")[2]) / 1000);
    });
  }
}

/** Where pgbench is: on the PATH, or where Debian has it; undefined when it is on neither. */
export function findPgbench(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(":");
  const ofDebian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  return [...onPath, ...ofDebian].map((folder) => join(folder, "pgbench")).find((file) => existsSync(file));
}

/** Each transaction of TPC-B adds the same to a row of each of three tables and to the history. */
export async function checkTpcB(stage: Stage, databaseUrl: string, transactions: number): Promise<void> {
  const [found] = await query(
    databaseUrl,
    `SELECT (SELECT count(*) FROM pgbench_history) AS history,
            (SELECT sum(delta) FROM pgbench_history) AS deltas,
            (SELECT sum(abalance) FROM pgbench_accounts) AS accounts,
            (SELECT sum(tbalance) FROM pgbench_tellers) AS tellers,
            (SELECT sum(bbalance) FROM pgbench_branches) AS branches`,
  );
  const { history, deltas, accounts, tellers, branches } = found ?? {};
  if (String(history) !== String(transactions))
    stage.blame(`TPC-B: ${String(history)} rows, not ${String(transactions)}`);
  if (new Set([deltas, accounts, tellers, branches].map(String)).size > 1) stage.blame("TPC-B: the sums differ");
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`pgbench did not say ${pattern.source}: ${text}`);
  return Number(found);
}
