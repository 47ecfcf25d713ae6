/**
 * `make mutants`: plants one bug after the other into a copy of the compiled program, and prints
 * which check finds it. With `--quick` it asks only what `make test` runs.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { POSTGRES_URL_VARIABLE, startPostgres } from "../../support/postgres.js";
import { isOutgoing, MUTANTS } from "./mutants.js";
import { type Mutant, plant } from "./plant.js";

// This file runs compiled, from dist/test/attack/mutants/.
const REPOSITORY = join(import.meta.dirname, "../../../..");
// The limit for a check, far more than it needs: a bug may be an endless loop.
const PROGRAM_MILLIS_MAX = 150_000;
// The report of thousands of tests is more than the 1 MiB that Node takes by default.
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
// The limit for a test: a bug may leave it waiting for ever.
const TEST_MILLIS_MAX = 5_000;
/** Tests of what goes out wait for real sockets, and stream a great deal. */
const OUTGOING_TEST_MILLIS_MAX = 30_000;
const SIMULATION_TEST_MILLIS_MAX = 60_000;

const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [""] }, quick: { type: "boolean", default: false } },
});

/** A check that may find a bug. */
interface Check {
  readonly name: string;
  /** Whether it looks for bugs in what goes out: webhooks, statements and streams. */
  readonly isOfOutgoing?: boolean;
  /**
   * Returns what it found; undefined when it found nothing. Throws when the check could not run.
   */
  readonly run: (folder: string) => string | undefined;
}

const TESTS = [
  "domain/**/*.test.js",
  "events/**/*.test.js",
  "ledger/**/*.test.js",
  "rails/bank/*.test.js",
  "reconcile/**/*.test.js",
  "rails/mpesa/result-codes.test.js",
  "seals/merkle.test.js",
  "seals/sealer.test.js",
  "settlement/**/*.test.js",
  "payouts/*.test.js",
  "operators/bank-files.test.js",
  "storage/secrets/**/*.test.js",
  "storage/postgres/races.test.js",
];

const TESTS_OF_OUTGOING: Check = {
  name: "tests of what goes out",
  isOfOutgoing: true,
  run: (folder) =>
    test(
      folder,
      [
        // The quick ones come first: the first one that fails ends the check.
        "webhooks/window.test.js",
        "webhooks/sign.test.js",
        "grpc/services/exports.test.js",
        "statements/period.test.js",
        "gateway/streams/**/*.test.js",
        "webhooks/deliver.test.js",
        "webhooks/delivery-store.test.js",
        "webhooks/loop.test.js",
        "statements/as-of.test.js",
      ],
      OUTGOING_TEST_MILLIS_MAX,
    ),
};

const ALL_CHECKS: readonly Check[] = [
  { name: "simulation, in memory", run: (folder) => simulate(folder, ["--engine", "memory", "--runs", "1000"]) },
  { name: "simulation, on SQLite", run: (folder) => simulate(folder, ["--engine", "sqlite", "--runs", "25"]) },
  { name: "simulation, of rails", run: (folder) => simulate(folder, ["--engine", "rails", "--runs", "1000"]) },
  { name: "tests", run: (folder) => test(folder, TESTS) },
  TESTS_OF_OUTGOING,
];

/** Of `make test`, in its sizes. Its simulations and histories are tests of their own. */
const QUICK_CHECKS: readonly Check[] = [
  { name: "tests", run: (folder) => test(folder, TESTS) },
  {
    name: "simulations and histories",
    run: (folder) =>
      test(folder, ["attack/simulation/*.test.js", "attack/property/*.test.js"], SIMULATION_TEST_MILLIS_MAX),
  },
  TESTS_OF_OUTGOING,
];

const checks = values.quick ? QUICK_CHECKS : ALL_CHECKS;

/** A check of money says nothing about what goes out, and the other way round. */
function concerns({ isOfOutgoing = false }: Check, mutant: Mutant): boolean {
  return isOfOutgoing === isOutgoing(mutant);
}

function simulate(folder: string, args: readonly string[]): string | undefined {
  const { status, output } = runIn(folder, ["dist/test/attack/simulation/main.js", "--bail", ...args]);
  if (status === 0) return undefined;
  const [, seed] = /^seed (\d+) failed/.exec(output) ?? [];
  if (seed === undefined) throw new Error(`the simulation did not run:\n${output}`);
  return `seed ${seed}`;
}

const MOCHA = `node_modules/mocha/bin/mocha.js --no-config --require dist/test/support/at-the-end.js
  --reporter json --bail --exit`.split(/\s+/);

interface MochaReport {
  readonly failures: readonly { readonly fullTitle: string }[];
}

function test(folder: string, files: readonly string[], millisMax = TEST_MILLIS_MAX): string | undefined {
  const ofMakeCheck = values.quick ? ["--ignore", "**/*.check.test.js"] : [];
  const paths = files.map((file) => `dist/test/${file}`);
  const { output } = runIn(folder, [...MOCHA, "--timeout", String(millisMax), ...ofMakeCheck, ...paths]);
  const begin = output.indexOf("{\n");
  // Without a bug they do: a run begins with all checks of the program as it is.
  if (begin === -1) return `the tests do not load: ${/\w*Error: .*/.exec(output)?.[0] ?? output}`;
  const { failures } = JSON.parse(output.slice(begin)) as MochaReport;
  return failures[0]?.fullTitle;
}

function runIn(folder: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: PROGRAM_MILLIS_MAX,
    maxBuffer: OUTPUT_BYTES_MAX,
    env: { ...process.env, TEST_KESC: join(folder, "dist/src/cli/kesc.js") },
  });
  if (error !== undefined) throw error;
  return { status, output: stdout === "" ? stderr : stdout };
}

/** The compiled program and its tests, in a place of their own. */
function copyOfProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), "kesc-mutants-"));
  cpSync(join(REPOSITORY, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(REPOSITORY, "package.json"), join(folder, "package.json"));
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  // Tests read pages, the contract, and certificates of tests and examples.
  for (const name of ["docs", "examples", "proto", "test"]) symlinkSync(join(REPOSITORY, name), join(folder, name));
  return folder;
}

/** Returns what each check found. */
function tryMutant(mutant: Mutant, folder: string): (string | undefined)[] {
  const file = join(folder, "dist", mutant.file);
  const code = readFileSync(file, "utf8");
  try {
    writeFileSync(file, plant(mutant, code));
    return checks.map((check) => (concerns(check, mutant) ? foundBy(check, folder) : undefined));
  } finally {
    writeFileSync(file, code);
  }
}

/** A bug that lets a check run for ever is found, too. */
function foundBy(check: Check, folder: string): string | undefined {
  try {
    return check.run(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ETIMEDOUT") return "it never ends";
    throw error;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Tries the mutants whose name contains one of the texts. Returns whether all were found. */
function tryAll(texts: readonly string[]): boolean {
  const folder = copyOfProgram();
  try {
    const mutants = MUTANTS.filter(({ name }) => texts.some((text) => name.includes(text)));
    for (const check of checks.filter((each) => mutants.some((mutant) => concerns(each, mutant)))) {
      const found = check.run(folder);
      if (found !== undefined) throw new Error(`${check.name} finds something in the program as it is: ${found}`);
    }
    const survivors: string[] = [];
    say(`| planted bug | ${checks.map(({ name }) => name).join(" | ")} |\n|${" --- |".repeat(checks.length + 1)}`);
    for (const mutant of mutants) {
      const found = tryMutant(mutant, folder);
      say(`| ${mutant.name} | ${found.map((each) => each ?? "").join(" | ")} |`);
      if (found.every((each) => each === undefined)) survivors.push(mutant.name);
    }
    say(`\n${String(mutants.length)} planted, ${String(mutants.length - survivors.length)} found`);
    for (const name of survivors) say(`SURVIVED: ${name}`);
    return mutants.length > 0 && survivors.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const postgres = await startPostgres();
// The tests of each mutant share this server.
process.env[POSTGRES_URL_VARIABLE] = postgres.url;
try {
  if (!tryAll(values.only)) process.exitCode = 1;
} finally {
  await postgres.stop();
}
