/**
 * `make bench`: starts everything, measures in rounds, checks the books, prints a table and writes
 * bench/out/latest.json.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { runCommand } from "./command-line.js";
import { thisMachine } from "./machine.js";
import { measuredLoad } from "./measured-load.js";
import { type Options, readOptions, REPOSITORY, USAGE, WARM_UP_ROUNDS } from "./options.js";
import { type Measurement, planFor, type Target } from "./plan.js";
import { comparisonsOf, type Measured, type Report, type Round, rowsOf, textOf } from "./report.js";
import { type Program, start, stop } from "./servers.js";
import { problemsInBooks, problemsInJournal, type Service, startGateway, startService } from "./service.js";

const OUT = join(REPOSITORY, "bench/out");
const RAMP_SECONDS = 0.2;

/** Everything that runs during the benchmark. */
interface Stage {
  loader: Program;
  programs: Record<Target, Program>;
  server: Service;
  serverOneByOne: Service;
}

async function main(options: Options): Promise<void> {
  mkdirSync(OUT, { recursive: true });
  // On the disk that holds the checkout: a folder in memory would make every commit look cheap.
  const folder = mkdtempSync(join(OUT, "run-"));
  const at = new Date().toISOString();
  const machine = thisMachine(REPOSITORY);
  const running: Program[] = [];
  try {
    const stage = await setUp(options, folder, running);
    const { measured, problems } = await measure(stage, options);
    problems.push(...(await problemsInBooks(stage.server)), ...(await problemsInBooks(stage.serverOneByOne)));
    await stopAll(running);
    problems.push(...(await problemsInJournal(stage.server)), ...(await problemsInJournal(stage.serverOneByOne)));
    publish({
      at,
      machine,
      settings: { rounds: options.rounds, seconds: options.seconds, database: "SQLite, synchronous=FULL" },
      rows: rowsOf(measured),
      comparisons: comparisonsOf(measured),
      problems,
    });
  } finally {
    await stopAll(running);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts all programs, and puts each into `running` as soon as it runs. */
async function setUp({ kesc }: Options, folder: string, running: Program[]): Promise<Stage> {
  const run = (name: string, file: string): Promise<Program> =>
    start({ name, entry: [process.execPath, join(import.meta.dirname, file)], logFolder: folder });
  const keep = (program: Program): Program => {
    running.push(program);
    return program;
  };
  const loader = keep(await run("load", "load/main.js"));
  const grpcEcho = keep(await run("grpc-echo", "echo/grpc-echo.js"));
  const expressEcho = keep(await run("express-echo", "echo/express-echo.js"));
  const server = await startService({ name: "server", kesc, folder, env: {}, keep });
  const serverOneByOne = await startService({ name: "one-by-one", kesc, folder, env: { KESC_BATCH_MAX: "1" }, keep });
  const gateway = keep(await startGateway(server, folder));
  const programs = { grpcEcho, expressEcho, server: server.program, serverOneByOne: serverOneByOne.program, gateway };
  return { loader, programs, server, serverOneByOne };
}

/** Goes through the plan once to warm up and then once for each round. */
async function measure(stage: Stage, options: Options): Promise<{ measured: Measured[]; problems: string[] }> {
  const plan = planFor(options.only);
  if (plan.length === 0) throw new Error(`no measurement is called "${options.only}"`);
  const measured = plan.map((measurement): Measured => ({ measurement, rounds: [] }));
  const problems = new Map<string, number>();
  for (let round = 0; round <= options.rounds; round++) {
    progress(round === 0 ? "warming up" : `round ${String(round)} of ${String(options.rounds)}`);
    const seconds = round === 0 ? options.seconds * WARM_UP_ROUNDS : options.seconds;
    for (const { measurement, rounds } of measured) {
      const result = await measureOnce(stage, measurement, seconds);
      if (round > 0) rounds.push(result);
      for (const [text, count] of Object.entries(result.problems)) {
        const problem = `${measurement.name}: ${text}`;
        problems.set(problem, (problems.get(problem) ?? 0) + count);
      }
      if (result.callsInWindow === 0) problems.set(`${measurement.name}: no answer in a whole round`, 1);
    }
  }
  return { measured, problems: [...problems].map(([problem, count]) => `${problem} (${String(count)} times)`) };
}

/** Has the load process measure once. */
function measureOnce(stage: Stage, measurement: Measurement, seconds: number): Promise<Round> {
  const { transport, call, inFlight, connections, keyed, target } = measurement;
  const service = target === "serverOneByOne" ? stage.serverOneByOne : stage.server;
  const booked = call === "mint" && target !== "expressEcho";
  return measuredLoad(
    { loader: stage.loader, service, programs: [stage.programs[target]], booked },
    { transport, call, inFlight, connections, keyed, rampSeconds: RAMP_SECONDS, seconds },
  );
}

function publish(report: Report): void {
  const file = join(OUT, "latest.json");
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  process.stdout.write(`\n${textOf(report)}\nwritten to ${file}\n`);
  if (report.problems.length > 0) process.exitCode = 1;
}

function progress(text: string): void {
  process.stderr.write(`${text} …\n`);
}

async function stopAll(running: Program[]): Promise<void> {
  for (const program of running.splice(0).reverse()) await stop(program);
}

await runCommand({ usage: USAGE, readOptions, main });
