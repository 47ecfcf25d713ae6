/**
 * `make mutants`: plants one bug after the other into a copy of the compiled program, and prints
 * which check finds it.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { MUTANTS } from "./mutants.js";
import { isOutgoing } from "./outgoing.js";
import { type Mutant, plant } from "./plant.js";

// This file runs compiled, from dist/test/attack/mutants/.
const REPOSITORY = join(import.meta.dirname, "../../../..");
// The limit for a check, far more than it needs: a bug may be an endless loop.
const PROGRAM_MILLIS_MAX = 300_000;
// The limit for a test: a bug may leave it waiting for ever.
const TEST_MILLIS_MAX = 5_000;
/** Tests of what goes out wait for real sockets, and stream a great deal. */
const OUTGOING_TEST_MILLIS_MAX = 30_000;

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

const CHECKS: readonly Check[] = [
  { name: "simulation, in memory", run: (folder) => simulate(folder, ["--engine", "memory", "--runs", "1000"]) },
  { name: "simulation, on SQLite", run: (folder) => simulate(folder, ["--engine", "sqlite", "--runs", "25"]) },
  { name: "simulation, of rails", run: (folder) => simulate(folder, ["--engine", "rails", "--runs", "1000"]) },
  {
    name: "tests",
    run: (folder) =>
      test(folder, [
        "dist/test/domain/**/*.test.js",
        "dist/test/events/**/*.test.js",
        "dist/test/ledger/**/*.test.js",
        "dist/test/rails/mpesa/result-codes.test.js",
        "dist/test/seals/merkle.test.js",
        "dist/test/seals/sealer.test.js",
        "dist/test/settlement/**/*.test.js",
        "dist/test/storage/secrets/**/*.test.js",
      ]),
  },
  {
    name: "tests of what goes out",
    isOfOutgoing: true,
    run: (folder) =>
      test(
        folder,
        [
          // The quick ones come first: the first one that fails ends the check.
          "dist/test/webhooks/window.test.js",
          "dist/test/webhooks/sign.test.js",
          "dist/test/grpc/services/change-turns.test.js",
          "dist/test/grpc/services/exports.test.js",
          "dist/test/statements/period.test.js",
          "dist/test/gateway/streams/**/*.test.js",
          "dist/test/webhooks/deliver.test.js",
          "dist/test/webhooks/delivery-store.test.js",
          "dist/test/webhooks/loop.test.js",
          "dist/test/statements/as-of.test.js",
        ],
        OUTGOING_TEST_MILLIS_MAX,
      ),
  },
];

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
  const { output } = runIn(folder, [...MOCHA, "--timeout", String(millisMax), ...files]);
  const begin = output.indexOf("{\n");
  if (begin === -1) throw new Error(`the tests did not run:\n${output}`);
  const { failures } = JSON.parse(output.slice(begin)) as MochaReport;
  return failures[0]?.fullTitle;
}

function runIn(folder: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: PROGRAM_MILLIS_MAX,
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
  // Tests read pages, the contract and certificates.
  for (const name of ["docs", "proto", "test"]) symlinkSync(join(REPOSITORY, name), join(folder, name));
  return folder;
}

/** Returns what each check found. */
function tryMutant(mutant: Mutant, folder: string): (string | undefined)[] {
  const file = join(folder, "dist", mutant.file);
  const code = readFileSync(file, "utf8");
  try {
    writeFileSync(file, plant(mutant, code));
    return CHECKS.map((check) => (concerns(check, mutant) ? check.run(folder) : undefined));
  } finally {
    writeFileSync(file, code);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Tries the mutants whose name contains the text. Returns whether all of them were found. */
function tryAll(text: string): boolean {
  const folder = copyOfProgram();
  try {
    const mutants = MUTANTS.filter(({ name }) => name.includes(text));
    for (const check of CHECKS.filter((each) => mutants.some((mutant) => concerns(each, mutant)))) {
      const found = check.run(folder);
      if (found !== undefined) throw new Error(`${check.name} finds something in the program as it is: ${found}`);
    }
    const survivors: string[] = [];
    say(`| planted bug | ${CHECKS.map(({ name }) => name).join(" | ")} |\n|${" --- |".repeat(CHECKS.length + 1)}`);
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

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
if (!tryAll(values.only)) process.exitCode = 1;
