/**
 * `make bench-full`: the parts of the benchmark that take long. Prints a table for each and writes
 * bench/out/<part>.json.
 */
import { runCommand } from "../command-line.js";
import { thisMachine } from "../machine.js";
import { REPOSITORY } from "../options.js";
import { curve } from "./curve.js";
import { fill, growth } from "./growth.js";
import { type Options, type Part, readOptions, USAGE } from "./options.js";
import { postgres } from "./postgres.js";
import { reads } from "./reads.js";
import { type Findings, publish, rowsOf } from "./report.js";
import { soak } from "./soak.js";
import { Stage } from "./stage.js";

async function main(options: Options): Promise<void> {
  const stage = new Stage(options);
  try {
    await stage.open();
    const { parts, transactions } = options;
    if (parts.includes("curve")) await run(stage, "curve", () => curve(stage));
    if (parts.includes("growth") || parts.includes("reads")) {
      const service = await stage.startService("growing");
      if (parts.includes("growth")) await run(stage, "growth", () => growth(stage, service));
      else await fill(stage, service, transactions);
      if (parts.includes("reads")) await run(stage, "reads", () => reads(stage, service));
    }
    if (parts.includes("postgres")) await run(stage, "postgres", () => postgres(stage));
    if (parts.includes("soak")) await run(stage, "soak", () => soak(stage));
  } finally {
    await stage.close();
  }
}

async function run(stage: Stage, part: Part, measure: () => Promise<Findings>): Promise<void> {
  const at = new Date().toISOString();
  const machine = thisMachine(REPOSITORY);
  const { rounds, seconds } = stage.options;
  const { settings, series, figures } = await measure();
  const problems = stage.takeProblems();
  publish({ part, at, machine, settings: { rounds, seconds, ...settings }, rows: rowsOf(series), figures, problems });
  if (problems.length > 0) process.exitCode = 1;
}

await runCommand({ usage: USAGE, readOptions, main });
