/**
 * Runs the test files in several processes, each of which takes the next file when it is free.
 * Prints a line for each file, the output of files with failures, and the sum.
 *
 * usage: node dist/test/run.js [PART OF A PATH]...    without one, all files of the stage
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { FileResult } from "./run-files.js";
import { BUDGETS, calibrate, cpuSeconds, tooDear } from "./support/budget.js";
import { POSTGRES_URL_VARIABLE, startPostgres } from "./support/postgres.js";
import { byStage, STAGE } from "./support/stage.js";

const WORKER = fileURLToPath(new URL("run-files.js", import.meta.url));
const ROOT = fileURLToPath(new URL(".", import.meta.url));
// Tests wait for half of their time, so two processes more than cores keep all cores busy.
const PROCESSES = Math.min(4, availableParallelism() + 2);
const DEAREST_SHOWN = 10;
/** Where the list of tests ends in what mocha prints. A process that died has no such line. */
const SUMS = /^ +\d+ passing/m;
// The slowest file takes a minute on a quiet machine. A file that hangs must not stop the run.
const FILE_MILLIS_MAX = 900_000;
const MEMORY = "/dev/shm";
const MEMORY_BYTES_MIN = 4 * 1_024 ** 3;

const nothing = { passed: 0, pending: 0, cpuSeconds: 0 };
const waiting = filesOf(process.argv.slice(2));
const filesCount = waiting.length;
const results: FileResult[] = [];
const startedAt = performance.now();
const calibratedBefore = calibrate();

// Each open SQLite file is a thread that compiles the storage anew: a cache takes a tenth off it.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "kesc-test-compile-cache");
const folder = folderInMemory();
if (folder !== undefined) process.env["TMPDIR"] = folder;
const postgres = await startPostgres();
process.env[POSTGRES_URL_VARIABLE] = postgres.url;
const workers = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const worker of workers) worker.kill("SIGKILL");
    void end().finally(() => process.exit(1));
  });
}
try {
  await Promise.all(Array.from({ length: Math.min(PROCESSES, filesCount) }, runWaitingFiles));
} finally {
  await end();
}
process.exitCode = report() ? 0 : 1;

/**
 * Makes a folder for what tests write, of which each database is 16 MB. Undefined if the machine
 * has none in memory, or if it is small: a full one is one of the things that end a test.
 */
function folderInMemory(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MEMORY_BYTES_MIN) return undefined;
  const made = mkdtempSync(join(MEMORY, "kesc-tests-"));
  // PostgreSQL runs as another user where the tests run as root.
  chmodSync(made, 0o711);
  return made;
}

async function end(): Promise<void> {
  await postgres.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/**
 * Returns the test files of this stage whose path contains one of the parts. Slow files, those of
 * `make check` alone, come first: the quick ones then fill all processes to the end. `make check`
 * has run those of the domain before, for their coverage.
 */
function filesOf(parts: readonly string[]): string[] {
  const quick = (file: string): boolean => !file.endsWith(".check.test.js");
  // What was compiled from a file that has gone is still there.
  const isCurrent = (file: string): boolean => existsSync(`test/${file.replace(/js$/, "ts")}`);
  return globSync("**/*.test.js", { cwd: ROOT })
    .filter(isCurrent)
    .filter((file) => (parts.length === 0 ? !file.startsWith("lint/") : parts.some((part) => file.includes(part))))
    .filter((file) => STAGE !== "check" || parts.length > 0 || !file.startsWith("domain/"))
    .filter((file) => STAGE !== "test" || parts.length > 0 || quick(file))
    .sort((one, other) => Number(quick(one)) - Number(quick(other)) || one.localeCompare(other));
}

/** Gives the waiting files to one process, one after the other. A process that dies is replaced. */
async function runWaitingFiles(): Promise<void> {
  let worker: ChildProcess | undefined;
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (worker === undefined) {
      worker = fork(WORKER);
      workers.add(worker);
    }
    const result = await runFile(worker, file);
    if (result.died === true) worker = undefined;
    results.push(result);
    print(result);
  }
  if (worker === undefined) return;
  worker.send({ end: true });
  const [code] = (await once(worker, "exit")) as [number | null];
  if (code !== 0) results.push({ file: "after the last file", ...nothing, failed: 1, output: "", died: true });
}

async function runFile(worker: ChildProcess, file: string): Promise<FileResult> {
  const limit = setTimeout(() => worker.kill("SIGKILL"), FILE_MILLIS_MAX);
  const ended = new AbortController();
  const { signal } = ended;
  worker.send({ file: `${ROOT}${file}` });
  try {
    return await Promise.race([
      once(worker, "message", { signal }).then(([result]) => ({ ...(result as FileResult), file })),
      once(worker, "exit", { signal }).then(([code, killedBy]) => ({
        ...nothing,
        file,
        failed: 1,
        output: `  The process ended with ${String(code ?? killedBy)} while it ran this file.`,
        died: true,
      })),
    ]);
  } finally {
    clearTimeout(limit);
    ended.abort();
  }
}

function print({ file, passed, failed, pending, cpuSeconds, output }: FileResult): void {
  const counts = [`${String(passed)} passing`];
  if (failed > 0) counts.push(`${String(failed)} failing`);
  if (pending > 0) counts.push(`${String(pending)} pending`);
  const name = file.replace(/\.js$/, "");
  say(`${failed > 0 ? "✘" : "✔"} ${name}: ${counts.join(", ")} (${cpuSeconds.toFixed(1)} s)`);
  if (failed > 0 || pending > 0) say(output);
}

/** Prints the sums. Returns whether all is well. */
function report(): boolean {
  const sum = (name: "passed" | "failed" | "pending"): number =>
    results.reduce((total, result) => total + result[name], 0);
  const dearest = results.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds).slice(0, DEAREST_SHOWN);
  say(`\nThe dearest of ${String(filesCount)} files, in seconds of processor time:`);
  for (const { file, cpuSeconds } of dearest) say(`  ${cpuSeconds.toFixed(1).padStart(6)}  ${file}`);
  const failing = results.filter(({ failed }) => failed > 0);
  // Again at the end, where somebody looks first: what mocha prints after its sums.
  for (const { file, output } of failing)
    say(`\nFailures of ${file}:\n${output.slice(Math.max(0, output.search(SUMS)))}`);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const overBudget = reportCost();
  say(`\n${String(sum("passed"))} passing, ${String(sum("pending"))} pending (${minutes} min)`);
  if (sum("failed") > 0) say(`${String(sum("failed"))} failing`);
  return sum("failed") === 0 && sum("passed") > 0 && !(overBudget && STAGE === "check");
}

/**
 * Prints the processor time beside the budget. Returns whether it was over. That fails `make check`
 * alone: the machine of a stranger may be one on which a process costs far more than a calibration.
 */
function reportCost(): boolean {
  const calibration = Math.min(calibratedBefore, calibrate());
  const stage = byStage({ test: "test", check: "check" } as const);
  const seconds = cpuSeconds();
  say(
    `\n${seconds.toFixed(0)} s of processor time: ${(seconds / calibration).toFixed(0)} calibrations of ` +
      `${calibration.toFixed(2)} s; \`make ${stage}\` may take ${String(BUDGETS[stage].run)}.`,
  );
  const dear = tooDear(stage, calibration, { cpuSeconds: seconds, files: results });
  for (const line of dear) say(`✘ Too dear: ${line} (CONTRIBUTING.md)`);
  return dear.length > 0;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
