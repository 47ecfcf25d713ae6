/**
 * `make overload`: ten times the load of the peak, and a greedy organization beside a modest one.
 * Fails when a promise is broken.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { cpuTimeOf } from "../cpu-time.js";
import type { Job, LoadResult } from "../load/job.js";
import { load } from "../load-process.js";
import { machineLine, thisMachine } from "../machine.js";
import { REPOSITORY } from "../options.js";
import { type Program, start, stop } from "../servers.js";
import {
  AMOUNT,
  newTenant,
  problemsInBooks,
  problemsInJournal,
  type Service,
  startGateway,
  startService,
} from "../service.js";
import { Promises } from "./promises.js";
import { watch } from "./watch.js";

const OUT = join(REPOSITORY, "bench/out");
const SECONDS = Number(process.env["OVERLOAD_SECONDS"] ?? 20);
/**
 * A longer storm is many, with the peak in between: the machine's moods change within seconds, and
 * must touch both.
 */
const STORM_SECONDS_MAX = 10;
const STORMS = Math.ceil(SECONDS / STORM_SECONDS_MAX);
const PEAK_SECONDS = Math.min(5, SECONDS);
/** Until V8 has compiled what a mint needs, before the first peak. */
const WARM_UP_SECONDS = Math.min(10, SECONDS);
/** So long takes the storm of the first calls, until the load is steady. */
const RAMP_SECONDS = 3;

/**
 * As many as the service needs at its best, and ten times as many; whoever is refused is back at
 * once.
 */
const GRPC_PEAK: Load = { transport: "grpc", inFlight: 1_000, connections: 10 };
const GRPC_OVERLOAD: Load = { transport: "grpc", inFlight: 10_000, connections: 20 };
const REST_PEAK: Load = { transport: "rest", inFlight: 200, connections: 200 };
const REST_OVERLOAD: Load = { transport: "rest", inFlight: 2_000, connections: 2_000 };
const MODEST: Load = { transport: "grpc", inFlight: 10, connections: 1 };

const GOOD_SHARE_MIN = 0.9;
const RECOVERY_SECONDS_MAX = 5;
const MEMORY_GROWTH_MAX = 1.25;

type Load = Pick<Job, "transport" | "inFlight" | "connections">;

/** Everything that runs. */
interface Stage {
  loader: Program;
  modestLoader: Program;
  gateway: Program;
  greedy: Service;
  modest: Service;
}

const promises = new Promises((line) => process.stdout.write(`${line}\n`));

async function main(): Promise<void> {
  mkdirSync(OUT, { recursive: true });
  const folder = mkdtempSync(join(OUT, "overload-"));
  const running: Program[] = [];
  try {
    promises.note(machineLine(thisMachine(REPOSITORY)));
    const stage = await setUp(folder, running);
    await overload(stage, "gRPC", GRPC_PEAK, GRPC_OVERLOAD);
    await overload(stage, "REST", REST_PEAK, REST_OVERLOAD);
    await greedyAndModest(stage);
    const wrong = [...(await problemsInBooks(stage.greedy)), ...(await problemsInBooks(stage.modest))];
    await stopAll(running);
    wrong.push(...(await problemsInJournal(stage.greedy)));
    promises.note("\nthe books");
    promises.check("every mint that was answered, and no other, is in them", wrong.length === 0, wrong.join("; "));
  } finally {
    await stopAll(running);
    rmSync(folder, { recursive: true, force: true });
  }
  if (promises.broken) process.exitCode = 1;
}

async function setUp(folder: string, running: Program[]): Promise<Stage> {
  const keep = (program: Program): Program => {
    running.push(program);
    return program;
  };
  const entry: [string, string] = [process.execPath, join(import.meta.dirname, "../load/main.js")];
  const kesc = join(REPOSITORY, "dist/src/cli/kesc.js");
  const loader = keep(await start({ name: "load", entry, logFolder: folder }));
  const modestLoader = keep(await start({ name: "modest-load", entry, logFolder: folder }));
  const greedy = await startService({ name: "server", kesc, folder, env: {}, keep });
  const modest = await newTenant(greedy);
  const gateway = keep(await startGateway(greedy, folder));
  return { loader, modestLoader, gateway, greedy, modest };
}

/** The peak and ten times its load, in turn. */
async function overload(stage: Stage, name: string, peakLoad: Load, tenfold: Load): Promise<void> {
  const { greedy, gateway } = stage;
  promises.note(`\n${name}: ${String(tenfold.inFlight)} mints in flight, ${String(SECONDS)} s`);
  const { result, seen } = await watch(
    { server: greedy.program, gateway },
    stormsBetweenPeaks(stage, peakLoad, tenfold),
  );
  const { peaks, storms, recoveries } = result;

  const share =
    mean(storms.map(({ callsPerSecond }) => callsPerSecond)) / mean(peaks.map((peak) => peak.callsPerSecond));
  const inTurn = peaks.flatMap((peak, i) => [peak, storms[i]]).filter((minted) => minted !== undefined);
  promises.figure("good answers a second: peak, during, peak", inTurn.map(rateOf).join(", "));
  const costs = inTurn.map(({ mainThreadMicroseconds }) => mainThreadMicroseconds.toFixed(0));
  promises.figure("main thread's time for each of them, µs", costs.join(", "));
  promises.check(
    `good answers, of the peak: at least ${String(GOOD_SHARE_MIN)}`,
    share >= GOOD_SHARE_MIN,
    share.toFixed(2),
  );
  promises.figure(
    "p50 and p99 of good answers, ms",
    storms.map(({ p50Millis: p50, p99Millis: p99 }) => `${p50.toFixed(0)}, ${p99.toFixed(0)}`).join("; "),
  );
  for (const storm of storms) checkRefusals(storm);
  const { unhealthy, slowestHealthMillis, healthChecks, memoryMegabytes } = seen;
  promises.check(
    `${String(healthChecks)} health checks say that all is well`,
    unhealthy.length === 0,
    unhealthy.join("; "),
  );
  promises.figure("the slowest of them, ms", slowestHealthMillis.toFixed(0));
  const [first, second] = memoryMegabytes;
  promises.check(
    "the server's memory does not go on growing, MB",
    !(second > first * MEMORY_GROWTH_MAX),
    `${first.toFixed(0)}, then ${second.toFixed(0)}`,
  );
  for (const { callsInWindow: calls, p99Millis: p99 } of recoveries) {
    promises.check(
      `works as ever ${String(RECOVERY_SECONDS_MAX)} s later: slowest of ${String(calls)} calls at once, ms`,
      calls > 0 && p99 < RECOVERY_SECONDS_MAX * 1_000,
      p99.toFixed(0),
    );
  }
}

interface StormsBetweenPeaks {
  /** One more than there are storms. */
  readonly peaks: readonly Minted[];
  readonly storms: readonly Minted[];
  /** A few calls right after each storm. */
  readonly recoveries: readonly Minted[];
}

async function stormsBetweenPeaks(
  { loader, greedy, gateway }: Stage,
  peakLoad: Load,
  tenfold: Load,
): Promise<StormsBetweenPeaks> {
  const minted = (job: Parameters<typeof mints>[3]): Promise<Minted> => mints(loader, greedy, gateway, job);
  const peak = (): Promise<Minted> => minted({ ...peakLoad, seconds: PEAK_SECONDS, rampSeconds: 1 });
  await minted({ ...peakLoad, seconds: WARM_UP_SECONDS, rampSeconds: 0 });
  const peaks = [await peak()];
  const storms: Minted[] = [];
  const recoveries: Minted[] = [];
  while (storms.length < STORMS) {
    storms.push(await minted({ ...tenfold, seconds: SECONDS / STORMS, rampSeconds: RAMP_SECONDS }));
    recoveries.push(await minted({ ...MODEST, seconds: 1, rampSeconds: 0 }));
    peaks.push(await peak());
  }
  return { peaks, storms, recoveries };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** One organization with ten times the peak's load, one with a few calls at a time. */
async function greedyAndModest(stage: Stage): Promise<void> {
  const { greedy, modest, gateway } = stage;
  promises.note(
    `\ngRPC: a greedy organization (${String(GRPC_OVERLOAD.inFlight)} in flight) and a modest one (${String(MODEST.inFlight)})`,
  );
  const alone = await mints(stage.modestLoader, modest, gateway, { ...MODEST, seconds: PEAK_SECONDS, rampSeconds: 1 });
  const [greedyResult, modestResult] = await Promise.all([
    mints(stage.loader, greedy, gateway, { ...GRPC_OVERLOAD, seconds: SECONDS, rampSeconds: RAMP_SECONDS }),
    mints(stage.modestLoader, modest, gateway, { ...MODEST, seconds: SECONDS, rampSeconds: RAMP_SECONDS }),
  ]);
  promises.figure("good answers a second: greedy, modest", [greedyResult, modestResult].map(rateOf).join(", "));
  const refused = Object.entries(modestResult.problems).map(
    ([problem, count]) => `${problem} (${String(count)} times)`,
  );
  promises.check("the modest one is never refused", refused.length === 0, refused.join("; "));
  promises.check(
    "its p99 is below the greedy one's p50, ms",
    modestResult.p99Millis < greedyResult.p50Millis,
    `${modestResult.p99Millis.toFixed(0)}, ${greedyResult.p50Millis.toFixed(0)} (${alone.p99Millis.toFixed(0)} when it is alone)`,
  );
  checkRefusals(greedyResult);
}

/** Whoever is not served must hear that there is no room, and nothing else. */
function checkRefusals({ problems }: LoadResult): void {
  const isRefusal = ([problem]: [string, number]): boolean =>
    /^(grpc-status 8: Too many|HTTP 429: QUEUE_FULL)/.test(problem);
  const all = Object.entries(problems);
  const refusals = all.filter(isRefusal).reduce((sum, [, count]) => sum + count, 0);
  const others = all
    .filter((problem) => !isRefusal(problem))
    .map(([problem, count]) => `${problem} (${String(count)} times)`);
  promises.figure("refused: RESOURCE_EXHAUSTED or 429", String(refusals));
  promises.check("nobody hears anything else", others.length === 0, others.join("; "));
}

interface Minted extends LoadResult {
  /**
   * Processor time of the main thread of the program that was called for each good answer, whatever
   * else it did.
   */
  mainThreadMicroseconds: number;
}

/** Has a load process mint for the organization, and books what it was answered. */
async function mints(
  loader: Program,
  tenant: Service,
  gateway: Program,
  job: Load & Pick<Job, "seconds" | "rampSeconds">,
): Promise<Minted> {
  const { apiKey, accountIds, nextSerial: firstSerial } = tenant;
  const { address, process: called } = job.transport === "grpc" ? tenant.program : gateway;
  const before = cpuTimeOf(called.pid);
  const result = await load(loader, {
    ...job,
    call: "mint",
    addresses: [address],
    apiKey,
    accountIds,
    amount: AMOUNT,
    firstSerial,
  });
  const { mainThread } = cpuTimeOf(called.pid);
  tenant.nextSerial += result.started;
  tenant.acknowledged = tenant.acknowledged.map((count, i) => count + (result.acknowledged[i] ?? 0));
  const answers = result.acknowledged.reduce((sum, count) => sum + count, 0);
  return { ...result, mainThreadMicroseconds: (mainThread - before.mainThread) / answers };
}

function rateOf({ callsPerSecond }: LoadResult): string {
  return callsPerSecond.toFixed(0);
}

async function stopAll(running: Program[]): Promise<void> {
  for (const program of running.splice(0).reverse()) await stop(program);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
