import { statSync } from "node:fs";

import type { Options } from "../options.js";
import { emptyProbe, inRounds, loadProbe } from "../probe.js";
import { median, rounded } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { type FigureName, ratioOf, samplesOf, type Series } from "../report/series.js";
import { measuredLoad } from "../servers/measured-load.js";
import { residentMebibytes } from "../servers/process-stats.js";
import { stop } from "../servers/programs.js";
import { problemsInBooks, problemsInJournal, type Service } from "../servers/service.js";
import { progress, type Stage } from "../stage.js";
import { pageFigures } from "./pages.js";

/** As many as in the main comparison of `make bench`. */
const IN_FLIGHT = 100;
const FILL_IN_FLIGHT = 400;
const FILL_CONNECTIONS = 4;
/** The load process keeps the latency of each call of a job. */
const FILL_CALLS_MAX = 1_000_000;
/** Longer than filling ever takes: the number of its calls ends it. */
const FILL_SECONDS_MAX = 86_400;
const STARTS = 5;

/** The part `growth`: speed, pages, memory, disk and start-up as the database grows. */
export async function growth(stage: Stage, options: Options): Promise<Findings> {
  const { transactions, rounds, seconds } = options;
  const service = await stage.startService("growing");
  // Not with none at all: a server that has just started is slow for a reason of its own.
  const sizes = [transactions / 100, transactions / 10, transactions];
  const series: Series[] = [];
  const memory: number[] = [];

  const startsEmpty = await startSeconds(stage, service);
  for (const size of sizes) {
    await fill(stage, service, size);
    series.push(...(await measureAt(stage, service, { size, options })));
    memory.push(residentMebibytes(service.program.process.pid));
  }

  const pages = await pageFigures(service);
  for (const problem of await problemsInBooks(service)) stage.blame(problem);
  // The last connection that closes moves the write-ahead log into the file.
  await stop(service.program);
  const bytes = statSync(service.databaseUrl.slice("sqlite:".length)).size;
  progress("growth: verify");
  const verifySeconds = await secondsOf(async () => {
    for (const problem of await problemsInJournal(service)) stage.blame(problem);
  });
  const startsFilled = await startSeconds(stage, service);
  const kept = transactionsOf(service);
  return {
    settings: { rounds, seconds, transactions: kept, database: "SQLite, synchronous=FULL" },
    series,
    figures: [
      ...ratiosOfRatios(series, sizes),
      ...pages,
      ratioFigure("memory of the server, full database ÷ a hundredth of it", (memory[2] ?? NaN) / (memory[0] ?? NaN)),
      { name: "memory of the server, full database", value: rounded(memory[2] ?? NaN, 0), unit: "MiB" },
      { name: "database file, a transaction", value: rounded(bytes / kept, 0), unit: "bytes" },
      { name: "start of the server, empty database", value: rounded(startsEmpty, 2), unit: "s" },
      { name: "start of the server, full database", value: rounded(startsFilled, 2), unit: "s" },
      { name: "kesc verify, a million transactions", value: rounded((verifySeconds / kept) * 1e6, 1), unit: "s" },
    ],
  };
}

/** Mints until the service has this many transactions. */
async function fill(stage: Stage, service: Service, transactions: number): Promise<void> {
  const load = { inFlight: FILL_IN_FLIGHT, connections: FILL_CONNECTIONS, rampSeconds: 0, seconds: FILL_SECONDS_MAX };
  const target = { loader: stage.loader, service, programs: [service.program], booked: true } as const;
  for (;;) {
    const missing = Math.ceil(transactions - transactionsOf(service));
    if (missing <= 0) return;
    progress(`filling: ${missing.toLocaleString("en")} transactions are missing`);
    const callsMax = Math.min(missing, FILL_CALLS_MAX);
    const { problems } = await measuredLoad(target, { ...load, transport: "grpc", call: "mint", callsMax });
    if (Object.keys(problems).length > 0) throw new Error(`filling: ${JSON.stringify(problems)}`);
  }
}

const emptyAt = (size: number): string => `empty grpc-js handler @ ${String(IN_FLIGHT)}, ${transactionsIn(size)}`;
const mintAt = (size: number): string => `mint @ ${String(IN_FLIGHT)}, ${transactionsIn(size)}`;

function measureAt(
  stage: Stage,
  service: Service,
  { size, options }: { size: number; options: Options },
): Promise<Series[]> {
  const mint = { name: mintAt(size), call: "mint", inFlight: IN_FLIGHT, yardstick: emptyAt(size) } as const;
  return inRounds(stage, options, {
    what: `growth, ${transactionsIn(size)}`,
    probes: [emptyProbe(stage, service, { name: emptyAt(size), inFlight: IN_FLIGHT }), loadProbe(stage, service, mint)],
  });
}

/** The loss of mints to the size of the database; dividing takes the machine's own loss out. */
function ratiosOfRatios(series: Series[], [few = NaN, , all = NaN]: number[]): Figure[] {
  const ratioAt = (size: number, figure: FigureName): number =>
    ratioOf(samplesOf(series, mintAt(size)), samplesOf(series, emptyAt(size)), figure);
  const ratio = (name: string, figure: FigureName): Figure =>
    ratioFigure(
      `${name} of mints ÷ empty calls, full database ÷ a hundredth of it`,
      ratioAt(all, figure) / ratioAt(few, figure),
    );
  return [ratio("rate", "callsPerSecond"), ratio("p99", "p99Millis")];
}

/** The time until a server is ready, median of several starts. It runs before and afterwards. */
async function startSeconds(stage: Stage, service: Service): Promise<number> {
  const seconds: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    await stop(service.program);
    const started = await secondsOf(async () => {
      service.program = await stage.startServer(service, service.startOptions.name);
    });
    seconds.push(started);
  }
  return median(seconds);
}

async function secondsOf(action: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await action();
  return (performance.now() - from) / 1000;
}

function transactionsOf(service: Service): number {
  return service.acknowledged.reduce((sum, count) => sum + count, 0);
}

function transactionsIn(count: number): string {
  return `${Math.round(count).toLocaleString("en")} transactions`;
}
