/** `make bench` and `make bench-full`: measures parts, prints their tables, keeps their results. */
import { fairness } from "./fairness/fairness.js";
import { blnk } from "./full/blnk.js";
import { curve } from "./full/curve.js";
import { events } from "./full/events.js";
import { growth } from "./full/growth.js";
import { postgres } from "./full/postgres.js";
import { rails } from "./full/rails.js";
import { soak } from "./full/soak.js";
import { type Options, type Part, readOptions } from "./options.js";
import { service } from "./plan.js";
import { thisMachine } from "./report/machine.js";
import { type Findings, rowsOf, textOf } from "./report/report.js";
import { keep } from "./report/results.js";
import { Stage } from "./stage.js";

/** With fewer rounds a run is a smoke test, and its figures are not worth keeping. */
const KEPT_ROUNDS_MIN = 3;

const options = readOptions();
await Stage.run(options.kesc, async (stage) => {
  const { parts } = options;
  if (parts.includes("service")) await run(stage, "service", () => service(stage, options));
  if (parts.includes("curve")) await run(stage, "curve", () => curve(stage, options));
  if (parts.includes("growth")) await run(stage, "growth", () => growth(stage, options));
  if (parts.includes("postgres")) await run(stage, "postgres", () => postgres(stage, options));
  if (parts.includes("rails")) await run(stage, "rails", () => rails(stage, options));
  if (parts.includes("events")) await run(stage, "events", () => events(stage, options));
  if (parts.includes("fairness")) await run(stage, "fairness", () => fairness(stage, options));
  if (parts.includes("soak")) await run(stage, "soak", () => soak(stage, options));
  if (parts.includes("blnk")) await run(stage, "blnk", () => blnk(stage, options));
});

async function run(stage: Stage, part: Part, measure: () => Promise<Findings>): Promise<void> {
  const at = new Date().toISOString();
  const machine = thisMachine(stage.kesc);
  const { settings, series, figures } = await measure();
  const report = { at, machine, settings, rows: rowsOf(series), figures };
  process.stdout.write(`\n${part}: ${textOf(report)}\n`);
  const problems = stage.takeProblems();
  if (problems.length > 0) {
    // Rates of wrong answers are worth nothing: they are not kept.
    process.stdout.write(`WRONG:\n${problems.map((problem) => `  ${problem}\n`).join("")}`);
    process.exitCode = 1;
    return;
  }
  process.stdout.write("Every answer was right, and the books agree.\n");
  if (isKept(options))
    process.stdout.write(
      `Kept in ${keep(report, { parts: { [part]: report } })}. \`make docs\` shows the newest without local changes.\n`,
    );
}

function isKept({ only, rows, engine, rounds }: Options): boolean {
  return only === "" && rows === "" && engine === "" && rounds >= KEPT_ROUNDS_MIN;
}
