/**
 * `make compare`: the processor time of a call in two builds, or of one build with and without
 * metrics or traces, measured in turn.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";

import { createDatabase } from "./full/postgres.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { median, medianInterval } from "./report/figures.js";
import { machineLine, thisMachine } from "./report/machine.js";
import { tableOf } from "./report/table.js";
import { type Calls, measuredLoad } from "./servers/measured-load.js";
import { cpuOfTree } from "./servers/process-stats.js";
import { type Program, stop } from "./servers/programs.js";
import type { Service } from "./servers/service.js";
import { progress, Stage } from "./stage.js";

const USAGE = `node dist/bench/compare.js --old <checkout or kesc command> [options]
node dist/bench/compare.js --metrics | --traces <ratio> [options]
  --metrics         compares the build with itself, the new one with its metrics on
  --traces <ratio>  the same with traces on, of which this share is recorded
  --new <path>      the other build (this checkout)
  --engine <name>   sqlite, or postgres: the mint alone, on the server that POSTGRES_URL names (sqlite)
  --pairs <n>       fresh servers of both builds are compared this many times (11)
  --calls <n>       measured calls of each kind, on each server (20000)
  --warm-up <n>     calls before them (20000)`;

/** Both builds take turns in slices of this number, so that both see the machine alike. */
const SLICES = 5;
/** Longer than a slice ever takes: the number of its calls ends it. */
const SECONDS_MAX = 600;

const KINDS = [
  { name: "mint", transport: "grpc", call: "mint", inFlight: 100, connections: 1 },
  { name: "GetAccount", transport: "grpc", call: "getAccount", inFlight: 100, connections: 1 },
  { name: "REST mint", transport: "rest", call: "mint", inFlight: 64, connections: 64 },
] as const;
type Kind = (typeof KINDS)[number];

interface Build {
  service: Service;
  gateway: Program;
}

/** Microseconds a call, by kind of call: one number for each pair. */
type Times = Record<"before" | "after", Map<string, number[]>>;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({
    options: {
      old: { type: "string", default: "" },
      metrics: { type: "boolean", default: false },
      traces: { type: "string" },
      new: { type: "string", default: REPOSITORY },
      engine: { type: "string", default: "sqlite" },
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
    kinds: postgresUrl === undefined ? KINDS : KINDS.slice(0, 1),
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
  const times: Times = { before: new Map(), after: new Map() };
  for (let pair = 1; pair <= options.pairs; pair++) {
    progress(`pair ${String(pair)} of ${String(options.pairs)}`);
    await comparePair(stage, pair, times);
  }
  const problems = stage.takeProblems();
  if (problems.length > 0) throw new Error(`WRONG:\n${problems.join("\n")}`);
  print(times);
});

/** Starts both builds on fresh databases and adds the times of all kinds of calls. */
async function comparePair(stage: Stage, pair: number, times: Times): Promise<void> {
  const { postgresUrl } = options;
  const start = async (name: "before" | "after"): Promise<Build> => {
    const env = name === "after" ? watching : {};
    const id = `${name}-${String(pair)}`;
    const kesc = options[name];
    const database = postgresUrl && { databaseUrl: await createDatabase(postgresUrl, id.replace("-", "_")) };
    const service = await stage.startService(id, { kesc, env, ...database });
    return { service, gateway: await stage.startGateway(service, { env }) };
  };
  const builds = { before: await start("before"), after: await start("after") };
  // The first of a pair is now the one, now the other.
  const order = pair % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const);
  for (const kind of options.kinds) {
    const micros = { before: 0, after: 0 };
    for (const name of order) await drive(stage, builds[name], kind, options.warmUp);
    for (let slice = 0; slice < SLICES; slice++) {
      for (const name of order) micros[name] += await drive(stage, builds[name], kind, options.calls / SLICES);
    }
    for (const name of order) {
      times[name].set(kind.name, [...(times[name].get(kind.name) ?? []), micros[name] / options.calls]);
    }
  }
  for (const { service, gateway } of Object.values(builds)) {
    await stop(gateway);
    await stage.checkBooks(service);
    if (postgresUrl === undefined) rmSync(service.databaseUrl.slice("sqlite:".length));
  }
}

/** Sends `count` calls. Returns the processor time of the server, over REST the gateway's too. */
async function drive(stage: Stage, build: Build, kind: Kind, count: number): Promise<number> {
  const { service, gateway } = build;
  const { name, ...load } = kind;
  const answering = kind.transport === "rest" ? gateway : service.program;
  const used = (): number =>
    cpuOfTree(service.program.process.pid) + (kind.transport === "rest" ? cpuOfTree(gateway.process.pid) : 0);
  const calls: Calls = { ...load, callsMax: Math.round(count), rampSeconds: 0, seconds: SECONDS_MAX };
  const before = used();
  const target = { loader: stage.loader, service, programs: [answering], booked: kind.call === "mint" } as const;
  const { problems } = await measuredLoad(target, calls);
  stage.blameAll(name, problems);
  return used() - before;
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

function print(times: Times): void {
  const rows = options.kinds.map(({ name }) => {
    const [before, after] = [times.before.get(name) ?? [], times.after.get(name) ?? []];
    const ratios = after.map((micros, pair) => micros / (before[pair] ?? NaN));
    const figures = [median(ratios), ...medianInterval(ratios)].map((ratio) => ratio.toFixed(3));
    return [name, ...figures, median(before).toFixed(1), median(after).toFixed(1)];
  });
  const lines = [["", "new ÷ old", "95 % from", "to", "old µs", "new µs"], ...rows];
  const fields = [
    `new: ${machineLine(thisMachine(options.after))}`,
    `old: ${machineLine(thisMachine(options.before))}`,
    `${options.postgresUrl === undefined ? "SQLite" : "PostgreSQL"}, processor time of a call, median of ${String(options.pairs)} pairs, ${String(options.calls)} calls each`,
    "REST mint: the gateway's time and the server's",
    ...Object.entries(watching).map(([name, value]) => `new: ${name}=${value}`),
    "",
    tableOf(lines),
  ];
  process.stdout.write(`${fields.join("\n")}\n`);
}
