import { statSync } from "node:fs";

import { median, rounded } from "../figures.js";
import { measuredLoad } from "../measured-load.js";
import { residentMebibytes } from "../resident-memory.js";
import { stop } from "../servers.js";
import { problemsInBooks, problemsInJournal, type Service } from "../service.js";
import { emptyCalls, grpcProbe } from "./grpc-probes.js";
import { inRounds, samplesOf, type Series } from "./probe.js";
import { type Figure, type Findings, ratioOf } from "./report.js";
import { progress, type Stage } from "./stage.js";

/** As many as the comparison that `make bench` is about. */
const IN_FLIGHT = 100;
const FILL_IN_FLIGHT = 400;
const FILL_CONNECTIONS = 4;
/** More than a filling step ever takes: what ends it is the number of its calls. */
const FILL_SECONDS_MAX = 86_400;
const FILL_STEPS = 10;
const STARTS = 5;

const emptyAt = (size: string): string => `empty grpc-js handler @ ${String(IN_FLIGHT)}, ${size}`;
const mintAt = (size: string): string => `mint @ ${String(IN_FLIGHT)}, ${size}`;

/**
 * What becomes of speed, memory, disk and start-up as the database grows. Leaves the service
 * running, filled.
 */
export async function growth(stage: Stage, service: Service): Promise<Findings> {
  const { transactions } = stage.options;
  // Not with none at all: a server that has just begun to run is slow for a reason of its own.
  const [few, ...larger] = [transactions / 100, transactions / 10, transactions] as const;
  const sizes = [few, ...larger];
  const series: Series[] = [];
  const memory: number[] = [];

  const startsEmpty = await startSeconds(stage, service);
  for (const size of sizes) {
    await fill(stage, service, size);
    series.push(...(await measureAt(stage, service, transactionsIn(size))));
    memory.push(residentMebibytes(service.program.process.pid));
  }

  for (const problem of await problemsInBooks(service)) stage.blame(problem);
  // Whoever closes the database last moves what is in the write-ahead log into the file.
  await stop(service.program);
  const bytes = statSync(service.databaseUrl.slice("sqlite:".length)).size;
  progress("growth: verify");
  const verifySeconds = await secondsOf(async () => {
    for (const problem of await problemsInJournal(service)) stage.blame(problem);
  });
  const startsFilled = await startSeconds(stage, service);

  const kept = transactionsOf(service);
  return {
    settings: { transactions: kept, accounts: service.accountIds.length, database: "SQLite, synchronous=FULL" },
    series,
    figures: [
      ...larger.flatMap((size) => ratiosOfRatios(series, { size: transactionsIn(size), few: transactionsIn(few) })),
      ...sizes.map((size, i) => ({
        name: `memory of the server, ${transactionsIn(size)}`,
        value: rounded(memory[i] ?? NaN, 0),
        unit: "MiB",
      })),
      { name: "database file, a transaction", value: rounded(bytes / kept, 0), unit: "bytes" },
      { name: `start of the server, empty database`, value: rounded(startsEmpty, 3), unit: "s" },
      { name: `start of the server, ${transactionsIn(transactions)}`, value: rounded(startsFilled, 3), unit: "s" },
      { name: "kesc verify", value: rounded(verifySeconds, 1), unit: "s" },
    ],
  };
}

/** Mints until the service has so many transactions. */
export async function fill(stage: Stage, service: Service, transactions: number): Promise<void> {
  const missing = Math.ceil(transactions - transactionsOf(service));
  for (let step = 0; step < FILL_STEPS; step++) {
    const callsMax = Math.floor((missing * (step + 1)) / FILL_STEPS) - Math.floor((missing * step) / FILL_STEPS);
    if (callsMax <= 0) continue;
    progress(`filling: ${transactionsOf(service).toLocaleString("en")} of ${transactions.toLocaleString("en")}`);
    const { problems } = await measuredLoad(
      { loader: stage.loader, service, programs: [service.program], booked: true },
      {
        transport: "grpc",
        call: "mint",
        inFlight: FILL_IN_FLIGHT,
        connections: FILL_CONNECTIONS,
        callsMax,
        rampSeconds: 0,
        seconds: FILL_SECONDS_MAX,
      },
    );
    for (const [problem, times] of Object.entries(problems)) stage.blame(`filling: ${problem}`, times);
  }
}

function measureAt(stage: Stage, service: Service, size: string): Promise<Series[]> {
  const calls = { inFlight: IN_FLIGHT, yardstick: emptyAt(size) };
  return inRounds(stage, `growth, ${size}`, [
    emptyCalls(stage, service, { name: emptyAt(size), inFlight: IN_FLIGHT }),
    grpcProbe(stage, service, { ...calls, name: mintAt(size), call: "mint" }),
  ]);
}

/** What mints lose to the size of the database, with what the machine lost meanwhile taken out. */
function ratiosOfRatios(series: Series[], { size, few }: { size: string; few: string }): Figure[] {
  const ratioAt = (at: string, figure: "callsPerSecond" | "p99Millis"): number =>
    ratioOf(samplesOf(series, mintAt(at)), samplesOf(series, emptyAt(at)), figure);
  return (["callsPerSecond", "p99Millis"] as const).map((figure) => ({
    name: `${figure === "callsPerSecond" ? "rate" : "p99"} of mint ÷ empty, ${size}, over the same with ${few}`,
    value: rounded(ratioAt(size, figure) / ratioAt(few, figure), 3),
    unit: "",
  }));
}

/**
 * How long a server takes until it is ready, median of several starts; it is stopped first, and
 * runs afterwards.
 */
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
