/**
 * `make upgrade`: replaces the servers of one PostgreSQL by those of the next release, one by one,
 * under load, and counts what failed and what is lost.
 */
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { takeDownAll } from "../../support/at-the-end.js";
import { startPostgres } from "../../support/postgres.js";
import { KESC } from "../../support/service/kesc.js";
import { optionsOrUsage, wholeNumber } from "../command-line.js";
import { Random } from "../random.js";
import { makeNextBuild } from "./next-build.js";
import { rollingUpgrade, type UpgradeResult } from "./rolling-upgrade.js";

const USAGE = `usage: make upgrade OLD=../before ARGS="--seconds 5 --seed 1"
  OLD          a built checkout of the release before; without it this build is the old one, and the new
               one is a copy of it with one more migration
  --seconds    of load after each step (5)
  --seed       of what the clients do (random; printed)`;
const SHOWN_MAX = 20;

interface Options {
  readonly old: string | undefined;
  readonly seconds: number;
  readonly seed: number;
}

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      old: { type: "string", default: "" },
      seconds: { type: "string", default: "5" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
    },
  });
  const old = values.old === "" ? undefined : resolve(values.old, "dist/src/cli/kesc.js");
  if (old !== undefined && !existsSync(old)) throw new Error(`${old} does not exist: build that checkout first`);
  return {
    old,
    seconds: wholeNumber("seconds", values.seconds, { max: 3_600 }),
    seed: wholeNumber("seed", values.seed, { max: 2 ** 31 }),
  };
}

async function main({ old, seconds, seed }: Options): Promise<void> {
  const postgres = await startPostgres();
  try {
    print(`seed ${String(seed)}`);
    const result = await rollingUpgrade({
      databaseUrl: await postgres.createDatabase(),
      oldProgram: old ?? KESC,
      newProgram: old === undefined ? makeNextBuild() : KESC,
      millisPerStep: seconds * 1_000,
      random: new Random(seed),
      onStep: print,
    });
    report(result);
  } finally {
    await takeDownAll();
    await postgres.stop();
  }
}

function report(result: UpgradeResult): void {
  const { commands, retries, reads, readRetries, failed, audit, verify } = result;
  print(`\ncommands ${String(commands)}, sent again ${String(retries)} times`);
  print(`reads ${String(reads)}, sent again ${String(readRetries)} times`);
  print(`failed calls ${String(failed.length)}`);
  print(`lost ${String(audit.lost.length)}, doubled ${String(audit.doubled.length)}, of ${String(audit.checked)}`);
  print(`wrong balances ${String(audit.wrong.length)}`);
  print(`kesc verify of the new build ended with ${String(verify.code)}`);
  const problems = [...failed, ...audit.lost, ...audit.doubled, ...audit.wrong];
  for (const problem of problems.slice(0, SHOWN_MAX)) print(`  ${problem}`);
  if (verify.code !== 0) print(verify.stdout + verify.stderr);
  if (problems.length > 0 || verify.code !== 0 || commands === 0 || reads === 0) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const options = optionsOrUsage(readOptions, USAGE);
if (options !== undefined) await main(options);
