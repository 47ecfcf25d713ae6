/**
 * `make nightly`: what takes hours or looks for new faults by chance, one part after the other.
 * Keeps the output of each part in nightly/, prints one table, and adds the command that repeats
 * a failure to nightly/failures.txt.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { appendFileSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

import { tableOf } from "../../bench/report/table.js";

const FOLDER = "nightly";
const SEED = String(randomInt(1, 2 ** 31));

/** Each part is a command that repeats itself exactly, as far as its faults follow from a seed. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  tests: ["test", "KESC_TEST_STAGE=nightly", `SEED=${SEED}`],
  runtimes: ["runtimes"],
  fuzz: ["fuzz", "RUNS=20000", `SEED=${SEED}`],
  simulate: ["simulate", "RUNS=100000", `SEED=${SEED}`],
  rails: ["simulate", "RUNS=100000", `SEED=${SEED}`, "ENGINE=rails"],
  mutants: ["mutants"],
  hostile: ["hostile"],
  chaos: ["chaos", `ARGS=--seed ${SEED}`],
  upgrade: ["upgrade"],
  events: ["events"],
  overload: ["overload"],
  fairness: ["bench-full", "ARGS=--part fairness"],
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown part ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.\n`);
  process.exit(2);
}

mkdirSync(FOLDER, { recursive: true });
const commit = spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" }).stdout.trim();
const rows = Object.entries(PARTS)
  .filter(([name]) => wanted.length === 0 || wanted.includes(name))
  .map(([name, args]) => run(name, args));
say(`\nCommit ${commit}, seed ${SEED}\n`);
say(tableOf([["part", "result", "minutes", "output"], ...rows.map((row) => row.cells)]));
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;

function run(name: string, args: readonly string[]): { readonly ok: boolean; readonly cells: readonly string[] } {
  const log = join(FOLDER, `${name}.log`);
  const output = openSync(log, "w");
  const command = `make ${args.map((arg) => (arg.includes(" ") ? `"${arg}"` : arg)).join(" ")}`;
  say(command);
  const startedAt = performance.now();
  const { status } = spawnSync("make", ["--no-print-directory", ...args], { stdio: ["ignore", output, output] });
  closeSync(output);
  const ok = status === 0;
  if (!ok) appendFileSync(join(FOLDER, "failures.txt"), `${new Date().toISOString()} ${commit} ${command}\n`);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  return { ok, cells: [name, ok ? "passed" : `FAILED (${String(status)})`, minutes, log] };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
