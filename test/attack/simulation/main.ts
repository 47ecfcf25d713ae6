/**
 * `make simulate`: makes many runs and counts what they met. Prints the seed and the steps of one
 * that fails.
 */
import { parseArgs } from "node:util";

import { optionsOrUsage, wholeNumber } from "../command-line.js";
import { Tally } from "./report/tally.js";
import type { ViolationKind } from "./report/violation.js";
import { ENGINES, type Failure, runAll, type RunOptions } from "./runs.js";

const USAGE = `node dist/test/attack/simulation/main.js [options]
  --seed <n>        the first run's seed; each one after it has the next (1)
  --runs <n>        how many runs (10000)
  --engine <name>   memory, sqlite (the service's own storage code, on a file), both: each 500th seed on sqlite (both),
                    or rails: the settlement over a simulated rail
  --bail            show the first run that fails, and look for no shorter one`;

const STEPS_SHOWN = 60;

/** Reads the command line. Throws, in words for the caller, when it is wrong. */
function readOptions(args: string[]): RunOptions {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "10000" },
      engine: { type: "string", default: "both" },
      bail: { type: "boolean", default: false },
    },
  });
  const seed = wholeNumber("seed", values.seed, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const runs = wholeNumber("runs", values.runs, { max: Number.MAX_SAFE_INTEGER });
  const engine = ENGINES.find((name) => name === values.engine);
  if (engine === undefined) throw new Error(`--engine takes one of ${ENGINES.join(", ")}`);
  return { seed, runs, engine, bail: values.bail };
}

function textOfFailure({ seed, error, again, steps }: Failure, { engine }: RunOptions): string {
  const shown = steps.slice(-STEPS_SHOWN);
  const left = steps.length - shown.length;
  return [
    `seed ${String(seed)} failed, after these steps:`,
    ...(left > 0 ? [`  … ${String(left)} before them`] : []),
    ...shown.map((step) => `  ${step}`),
    "",
    textOf(error),
    ...(again?.message === error.message
      ? []
      : ["", `the second time: ${again === undefined ? "nothing" : textOf(again)}`]),
    "",
    `again: make simulate SEED=${String(seed)} RUNS=1 ENGINE=${engine}`,
    "",
  ].join("\n");
}

/** The stack of a violation says nothing; the stack of any other error does. */
function textOf(error: Error): string {
  return error.name === "Violation" ? error.message : (error.stack ?? error.message);
}

function textOfTally(tally: Tally, seconds: number): string {
  const violations = (kind: ViolationKind): string =>
    numberOf(tally.counts("violations").find(([each]) => each === kind)?.[1] ?? 0);
  const parts = (group: string): string =>
    tally
      .counts(group)
      .map(([name, times]) => `${name} ${numberOf(times)}`)
      .join(", ");
  const line = (title: string, group: string): string =>
    `${title.padEnd(13)} ${numberOf(tally.sum(group)).padStart(10)}   ${parts(group)}`;
  return [
    `${line("runs", "runs")}, in ${seconds.toFixed(1)} s`,
    `steps         ${numberOf(tally.sum("steps")).padStart(10)}`,
    line("books", "books"),
    line("commands", "calls"),
    line("crashes", "crashes"),
    line("other faults", "other faults"),
    line("answers", "answers"),
    ...["rail", "payouts", "lists", "bank", "rail crashes", "rail faults"].flatMap((group) =>
      tally.sum(group) === 0 ? [] : [line(group, group)],
    ),
    `checked       ${parts("checked")}; lost ${violations("lost")}, doubled ${violations("doubled")}`,
    "",
  ].join("\n");
}

function numberOf(count: number): string {
  return count.toLocaleString("en");
}

async function main(options: RunOptions): Promise<void> {
  const tally = new Tally();
  const started = performance.now();
  const failure = await runAll(options, tally);
  if (failure !== undefined) {
    process.exitCode = 1;
    process.stdout.write(`${textOfFailure(failure, options)}\n`);
  }
  process.stdout.write(textOfTally(tally, (performance.now() - started) / 1_000));
}

const options = optionsOrUsage(readOptions, USAGE);
if (options !== undefined) await main(options);
