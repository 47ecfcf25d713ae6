/**
 * `make compare`: the rate and the processor time of calls in two builds, or of one build with and
 * without metrics or traces, measured in turn.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";

import { createDatabase } from "./full/postgres.js";
import { query } from "./full/sql-ledger.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { median, medianInterval, sum } from "./report/figures.js";
import { machineLine, thisMachine } from "./report/machine.js";
import { tableOf } from "./report/table.js";
import { type Calls, measuredLoad } from "./servers/measured-load.js";
import { cpuOfTree, cpuTimeOf } from "./servers/process-stats.js";
import { type Program, stop } from "./servers/programs.js";
import type { Service } from "./servers/service.js";
import { progress, Stage } from "./stage.js";

const USAGE = `node dist/bench/compare.js --old <checkout or kesc command> [options]
node dist/bench/compare.js --metrics | --traces <ratio> [options]
  --metrics         compares the build with itself, the new one with its metrics on
  --traces <ratio>  the same with traces on, of which this share is recorded
  --new <path>      the other build (this checkout)
  --engine <name>   sqlite, or postgres: on the server that POSTGRES_URL names, which runs on this machine (sqlite)
  --only <text>     only kinds of calls whose name has this text
  --pairs <n>       fresh servers of both builds are compared this many times (11)
  --calls <n>       measured calls of each kind, on each server; fewer where few are in flight (20000)
  --warm-up <n>     calls before them (20000)`;

/** Both builds take turns in slices of this number, so that both see the machine alike. */
const SLICES = 5;
const NOTHING: Sums = { calls: 0, seconds: 0, micros: 0, backendMicros: 0 };
/** Longer than a slice ever takes: the number of its calls ends it. */
const SECONDS_MAX = 600;

/** As many as a small business has customers: PostgreSQL then thinks that a scan is cheap. */
const ACCOUNTS = 1_000;

interface Kind extends Pick<Calls, "transport" | "call" | "inFlight" | "connections"> {
  name: string;
  /** Of the calls of a run, how many this kind makes. */
  share: number;
}

const rest = (inFlight: number, share: number): Kind => ({
  name: `REST mint @ ${String(inFlight)}`,
  transport: "rest",
  call: "mint",
  inFlight,
  connections: inFlight,
  share,
});
const KINDS: readonly Kind[] = [
  { name: "mint @ 1", transport: "grpc", call: "mint", inFlight: 1, connections: 1, share: 0.1 },
  { name: "mint @ 100", transport: "grpc", call: "mint", inFlight: 100, connections: 1, share: 1 },
  { name: "mint, batches of 1,000 @ 4", transport: "grpcBatches", call: "mint", inFlight: 4, connections: 1, share: 2 },
  { name: "GetAccount @ 100", transport: "grpc", call: "getAccount", inFlight: 100, connections: 1, share: 1 },
  rest(1, 0.1),
  rest(4, 0.2),
  rest(16, 0.5),
  rest(64, 1),
];

interface Build {
  service: Service;
  gateway: Program;
}

/** What one build did in one pair, summed over its slices. */
interface Sums {
  calls: number;
  seconds: number;
  /** Of the server, over REST the gateway's too. */
  micros: number;
  /** Of PostgreSQL's processes that serve the build. */
  backendMicros: number;
}

/** One entry for each pair, by kind of call. */
type Measured = Record<"before" | "after", Map<string, Sums[]>>;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({
    options: {
      old: { type: "string", default: "" },
      metrics: { type: "boolean", default: false },
      traces: { type: "string" },
      new: { type: "string", default: REPOSITORY },
      engine: { type: "string", default: "sqlite" },
      only: { type: "string", default: "" },
      pairs: { type: "string", default: "11" },
      calls: { type: "string", default: "20000" },
      "warm-up": { type: "string", default: "20000" },
    },
  });
  const watched = values.metrics || values.traces !== undefined;
  if (values.old === "" && !watched) throw new Error("--old names the build to compare with");
  const postgresUrl = values.engine === "postgres" ? process.env["POSTGRES_URL"] : undefined;
  if (values.engine === "postgres" && postgresUrl === undefined)
    throw new Error("--engine postgres needs the URL of a PostgreSQL server in POSTGRES_URL");
  const calls = { min: SLICES * 100, max: 10_000_000 };
  return {
    before: kescAt(values.old === "" ? values.new : values.old),
    postgresUrl,
    kinds: KINDS.filter(({ name }) => name.includes(values.only)),
    metrics: values.metrics,
    traces: values.traces,
    after: kescAt(values.new),
    pairs: wholeNumberOf("--pairs", values.pairs, { min: 1, max: 1_000 }),
    calls: wholeNumberOf("--calls", values.calls, calls),
    warmUp: wholeNumberOf("--warm-up", values["warm-up"], calls),
  };
});

/** The environment of the new build. */
const watching: Record<string, string> = {};
if (options.metrics) {
  watching["KESC_ADMIN_ADDRESS"] = "127.0.0.1:0";
  watching["KESC_HTTP_ADMIN_ADDRESS"] = "127.0.0.1:0";
}
if (options.traces !== undefined) {
  watching["OTEL_EXPORTER_OTLP_ENDPOINT"] = await startSink();
  watching["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
  watching["OTEL_TRACES_SAMPLER_ARG"] = options.traces;
}

await Stage.run(options.after, async (stage) => {
  const measured: Measured = { before: new Map(), after: new Map() };
  for (let pair = 1; pair <= options.pairs; pair++) {
    progress(`pair ${String(pair)} of ${String(options.pairs)}`);
    await comparePair(stage, pair, measured);
  }
  const problems = stage.takeProblems();
  if (problems.length > 0) throw new Error(`WRONG:\n${problems.join("\n")}`);
  print(measured);
});

/** Starts both builds on fresh databases and adds what they did with all kinds of calls. */
async function comparePair(stage: Stage, pair: number, measured: Measured): Promise<void> {
  const { postgresUrl } = options;
  const start = async (name: "before" | "after"): Promise<Build> => {
    const env = name === "after" ? watching : {};
    const id = `${name}-${String(pair)}`;
    const kesc = options[name];
    const database = postgresUrl && { databaseUrl: await createDatabase(postgresUrl, id.replace("-", "_")) };
    const service = await stage.startService(id, { kesc, env, accounts: ACCOUNTS, ...database });
    return { service, gateway: await stage.startGateway(service, { env }) };
  };
  const builds = { before: await start("before"), after: await start("after") };
  // The first of a pair is now the one, now the other.
  const order = pair % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const);
  for (const kind of options.kinds) {
    const sums = { before: { ...NOTHING }, after: { ...NOTHING } };
    for (const name of order) await drive(stage, builds[name], kind, options.warmUp);
    for (let slice = 0; slice < SLICES; slice++) {
      for (const name of order) add(sums[name], await drive(stage, builds[name], kind, options.calls / SLICES));
    }
    for (const name of order) {
      measured[name].set(kind.name, [...(measured[name].get(kind.name) ?? []), sums[name]]);
    }
  }
  for (const { service, gateway } of Object.values(builds)) {
    await stop(gateway);
    await stage.checkBooks(service);
    if (postgresUrl === undefined) rmSync(service.databaseUrl.slice("sqlite:".length));
  }
}

function add(sums: Sums, { calls, seconds, micros, backendMicros }: Sums): void {
  sums.calls += calls;
  sums.seconds += seconds;
  sums.micros += micros;
  sums.backendMicros += backendMicros;
}

/** Sends the share of the kind of `count` calls. */
async function drive(stage: Stage, build: Build, kind: Kind, count: number): Promise<Sums> {
  const { service, gateway } = build;
  const { name, share, ...load } = kind;
  const answering = kind.transport === "rest" ? gateway : service.program;
  const used = (): number =>
    cpuOfTree(service.program.process.pid) + (kind.transport === "rest" ? cpuOfTree(gateway.process.pid) : 0);
  const calls: Calls = { ...load, callsMax: Math.round(count * share), rampSeconds: 0, seconds: SECONDS_MAX };
  const before = { micros: used(), backends: await backendTimes(service) };
  const target = { loader: stage.loader, service, programs: [answering], booked: kind.call === "mint" } as const;
  const { problems, callsInWindow, callsPerSecond } = await measuredLoad(target, calls);
  stage.blameAll(name, problems);
  return {
    calls: callsInWindow,
    seconds: callsInWindow / callsPerSecond,
    micros: used() - before.micros,
    backendMicros: sum([...(await backendTimes(service))].map(([pid, time]) => time - (before.backends.get(pid) ?? 0))),
  };
}

/**
 * The processor time of the processes of PostgreSQL that serve the database. They end when they are
 * idle.
 */
async function backendTimes({ databaseUrl }: Service): Promise<ReadonlyMap<number, number>> {
  if (options.postgresUrl === undefined) return new Map();
  const backends = await query(
    databaseUrl,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  const pids = backends.map(({ pid }) => Number(pid));
  const times = pids.map((pid) => [pid, cpuTimeOf(pid)] as const);
  return new Map(times.map(([pid, { main, other }]) => [pid, main + other]));
}

/** Starts a collector of traces that drops them. Resolves with its URL. */
async function startSink(): Promise<string> {
  const server = createServer((req, res) => {
    req.resume().once("end", () => res.end("{}"));
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** A figure of a call, and the digits that it is worth. */
type FigureOf = readonly [name: string, digits: number, of: (sums: Sums) => number];

function print(measured: Measured): void {
  const figures: readonly FigureOf[] = [
    ["calls a second", 0, ({ calls, seconds }) => calls / seconds],
    ["µs of the processor a call, over REST with the gateway's", 1, ({ calls, micros }) => micros / calls],
    ["µs of PostgreSQL's processor a call", 1, ({ calls, backendMicros }) => backendMicros / calls],
  ];
  const shown = options.postgresUrl === undefined ? figures.slice(0, 2) : figures;
  const fields = [
    `new: ${machineLine(thisMachine(options.after))}`,
    `old: ${machineLine(thisMachine(options.before))}`,
    `${options.postgresUrl === undefined ? "SQLite" : "PostgreSQL"}, ${String(ACCOUNTS)} accounts, medians of ${String(options.pairs)} pairs of up to ${String(options.calls)} calls`,
    ...Object.entries(watching).map(([name, value]) => `new: ${name}=${value}`),
    ...shown.map((figure) => `\n${tableOfFigure(measured, figure)}`),
  ];
  process.stdout.write(`${fields.join("\n")}\n`);
}

function tableOfFigure(measured: Measured, [title, digits, figureOf]: FigureOf): string {
  const rows = options.kinds.map(({ name }) => {
    const [before = [], after = []] = [measured.before, measured.after].map((by) => by.get(name)?.map(figureOf));
    const ratios = after.map((figure, pair) => figure / (before[pair] ?? NaN));
    const compared = [median(ratios), ...medianInterval(ratios)].map((ratio) => ratio.toFixed(3));
    return [name, ...compared, median(before).toFixed(digits), median(after).toFixed(digits)];
  });
  return tableOf([[title, "new ÷ old", "95 % from", "to", "old", "new"], ...rows]);
}
