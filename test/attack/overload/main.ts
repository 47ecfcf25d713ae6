/**
 * `make overload`: ten times the load of the peak, and a greedy organization beside a modest one.
 * Fails when a promise is broken.
 */
import { kescAt, REPOSITORY } from "../../../bench/options.js";
import { sum } from "../../../bench/report/figures.js";
import { machineLine, thisMachine } from "../../../bench/report/machine.js";
import { type Calls, type Measured, measuredLoad } from "../../../bench/servers/measured-load.js";
import { type Program, stop } from "../../../bench/servers/programs.js";
import { newTenant, problemsInBooks, problemsInJournal, type Service } from "../../../bench/servers/service.js";
import { Stage } from "../../../bench/stage.js";
import { Promises } from "./promises.js";
import { watch } from "./watch.js";

const SECONDS = Number(process.env["OVERLOAD_SECONDS"] ?? 20);
/** A longer overload is several storms with the peak in between: the machine's speed drifts. */
const STORM_SECONDS_MAX = 10;
const STORMS = Math.ceil(SECONDS / STORM_SECONDS_MAX);
const PEAK_SECONDS = Math.min(5, SECONDS);
/** Before the first peak, until V8 has compiled the code of a mint. */
const WARM_UP_SECONDS = Math.min(10, SECONDS);
/** The load is steady after this time. */
const RAMP_SECONDS = 3;

/** The service's best load, and ten times as much; a refused caller calls again at once. */
const GRPC_PEAK: Load = { transport: "grpc", inFlight: 1_000, connections: 10 };
const GRPC_OVERLOAD: Load = { transport: "grpc", inFlight: 10_000, connections: 20 };
const REST_PEAK: Load = { transport: "rest", inFlight: 200, connections: 200 };
const REST_OVERLOAD: Load = { transport: "rest", inFlight: 2_000, connections: 2_000 };
const MODEST: Load = { transport: "grpc", inFlight: 10, connections: 1 };

const GOOD_SHARE_MIN = 0.9;
const RECOVERY_SECONDS_MAX = 5;
const MEMORY_GROWTH_MAX = 1.25;

type Load = Pick<Calls, "transport" | "inFlight" | "connections">;

interface Servers {
  loader: Program;
  modestLoader: Program;
  gateway: Program;
  greedy: Service;
  modest: Service;
}

const promises = new Promises((line) => process.stdout.write(`${line}\n`));
const kesc = kescAt(REPOSITORY);
await Stage.run(kesc, async (stage) => {
  promises.note(machineLine(thisMachine(kesc)));
  const modestLoader = await stage.startOwn("modest-load", "load/main.js");
  const greedy = await stage.startService("server");
  const modest = await newTenant(greedy);
  const gateway = await stage.startGateway(greedy);
  const servers = { loader: stage.loader, modestLoader, gateway, greedy, modest };

  await overload(servers, { name: "gRPC", peak: GRPC_PEAK, tenfold: GRPC_OVERLOAD });
  await overload(servers, { name: "REST", peak: REST_PEAK, tenfold: REST_OVERLOAD });
  await greedyAndModest(servers);

  const wrong = [...(await problemsInBooks(greedy)), ...(await problemsInBooks(modest))];
  await stop(greedy.program);
  wrong.push(...(await problemsInJournal(greedy)));
  promises.note("\nthe books");
  promises.check("every acknowledged mint, and no other, is in them", wrong.length === 0, wrong.join("; "));
});
if (promises.broken) process.exitCode = 1;

/** The peak and ten times its load, in turn. */
async function overload(
  servers: Servers,
  { name, peak, tenfold }: { name: string; peak: Load; tenfold: Load },
): Promise<void> {
  promises.note(`\n${name}: ${String(tenfold.inFlight)} mints in flight, ${String(SECONDS)} s`);
  const { greedy, gateway } = servers;
  const { result, seen } = await watch({ server: greedy.program, gateway }, storms(servers, peak, tenfold));
  const { peaks, storms: during, recoveries } = result;
  const inTurn = peaks.flatMap((one, i) => [one, during[i]]).filter((one) => one !== undefined);
  const share = mean(during.map(rateOf)) / mean(peaks.map(rateOf));
  const times = during.map(({ p50Millis, p99Millis }) => `${p50Millis.toFixed(0)}, ${p99Millis.toFixed(0)}`);
  promises.figure("good answers a second: peak, during, peak", inTurn.map((one) => rateOf(one).toFixed(0)).join(", "));
  promises.figure("main thread's time for each of them, µs", inTurn.map(microsOfGood).join(", "));
  const atLeast = `good answers, of the peak: at least ${String(GOOD_SHARE_MIN)}`;
  promises.check(atLeast, share >= GOOD_SHARE_MIN, share.toFixed(2));
  promises.figure("p50 and p99 of good answers, ms", times.join("; "));
  for (const storm of during) checkRefusals(storm);

  const { unhealthy, slowestHealthMillis, healthChecks, memoryMebibytes } = seen;
  promises.check(`${String(healthChecks)} health checks pass`, unhealthy.length === 0, unhealthy.join("; "));
  promises.figure("the slowest of them, ms", slowestHealthMillis.toFixed(0));
  const [first, second] = memoryMebibytes;
  const memory = `${first.toFixed(0)}, then ${second.toFixed(0)}`;
  promises.check("the server's memory stops growing, MiB", !(second > first * MEMORY_GROWTH_MAX), memory);
  for (const { callsInWindow: calls, p99Millis: p99 } of recoveries) {
    const within = `answers within ${String(RECOVERY_SECONDS_MAX)} s after the storm`;
    const promise = `${within}: slowest of ${String(calls)} calls, ms`;
    promises.check(promise, calls > 0 && p99 < RECOVERY_SECONDS_MAX * 1_000, p99.toFixed(0));
  }
}

interface StormsBetweenPeaks {
  /** One more than there are storms. */
  peaks: Measured[];
  storms: Measured[];
  /** A few calls right after each storm. */
  recoveries: Measured[];
}

async function storms(servers: Servers, peakLoad: Load, tenfold: Load): Promise<StormsBetweenPeaks> {
  const { loader, greedy, gateway } = servers;
  const mint = (load: Load, seconds: number, rampSeconds: number): Promise<Measured> =>
    mints({ loader, service: greedy, gateway }, { ...load, seconds, rampSeconds });
  await mint(peakLoad, WARM_UP_SECONDS, 0);
  const result: StormsBetweenPeaks = { peaks: [await mint(peakLoad, PEAK_SECONDS, 1)], storms: [], recoveries: [] };
  while (result.storms.length < STORMS) {
    result.storms.push(await mint(tenfold, SECONDS / STORMS, RAMP_SECONDS));
    result.recoveries.push(await mint(MODEST, 1, 0));
    result.peaks.push(await mint(peakLoad, PEAK_SECONDS, 1));
  }
  return result;
}

/** One organization with ten times the peak's load, one with a few calls at a time. */
async function greedyAndModest({ loader, modestLoader, gateway, greedy, modest }: Servers): Promise<void> {
  const greedyText = `a greedy organization (${String(GRPC_OVERLOAD.inFlight)} in flight)`;
  promises.note(`\ngRPC: ${greedyText} and a modest one (${String(MODEST.inFlight)})`);
  const ofModest = { loader: modestLoader, service: modest, gateway };
  const alone = await mints(ofModest, { ...MODEST, seconds: PEAK_SECONDS, rampSeconds: 1 });
  const times = { seconds: SECONDS, rampSeconds: RAMP_SECONDS };
  const [greedyResult, modestResult] = await Promise.all([
    mints({ loader, service: greedy, gateway }, { ...GRPC_OVERLOAD, ...times }),
    mints(ofModest, { ...MODEST, ...times }),
  ]);
  const rates = [greedyResult, modestResult].map((one) => rateOf(one).toFixed(0));
  promises.figure("good answers a second: greedy, modest", rates.join(", "));
  const refused = Object.entries(modestResult.problems).map(counted);
  promises.check("the modest one is never refused", refused.length === 0, refused.join("; "));
  const [p99, p50, p99Alone] = [modestResult.p99Millis, greedyResult.p50Millis, alone.p99Millis];
  promises.check(
    "its p99 is below the greedy one's p50, ms",
    p99 < p50,
    `${p99.toFixed(0)}, ${p50.toFixed(0)} (${p99Alone.toFixed(0)} when it is alone)`,
  );
  checkRefusals(greedyResult);
}

/** A call that is not served must get the refusal of a full queue and no other error. */
function checkRefusals({ problems }: Measured): void {
  // 8 is RESOURCE_EXHAUSTED.
  const isRefusal = (problem: string): boolean => /^(grpc-status 8$|HTTP 429: QUEUE_FULL)/.test(problem);
  const all = Object.entries(problems);
  const others = all.filter(([problem]) => !isRefusal(problem)).map(counted);
  const refusals = all.filter(([problem]) => isRefusal(problem)).map(([, count]) => count);
  promises.figure("refused: RESOURCE_EXHAUSTED or 429", String(sum(refusals)));
  promises.check("no call gets another error", others.length === 0, others.join("; "));
}

function mints(
  { loader, service, gateway }: { loader: Program; service: Service; gateway: Program },
  job: Load & Pick<Calls, "seconds" | "rampSeconds">,
): Promise<Measured> {
  const called = job.transport === "grpc" ? service.program : gateway;
  return measuredLoad({ loader, service, programs: [called], booked: true }, { ...job, call: "mint" });
}

function counted([problem, count]: [string, number]): string {
  return `${problem} (${String(count)} times)`;
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function rateOf({ callsPerSecond }: Measured): number {
  return callsPerSecond;
}

/** The main thread's time for each good answer, refusals included. */
function microsOfGood({ mainMicros, started, acknowledged }: Measured): string {
  return ((mainMicros * started) / sum(acknowledged)).toFixed(0);
}
