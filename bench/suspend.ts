/**
 * `make suspend`: how long an operator waits for SuspendOrganization and RevokeApiKey while the
 * organization has filled its share of the queue with mints. Each call goes over TCP to the
 * AdminService of a server in its own process. A response means that the act is committed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Scrape } from "../src/cli/top/scrape.js";
import { AdminServiceService as Rpcs } from "../src/gen/kesc/admin/v1/admin_service.js";
import { mintsWithoutEnd } from "./fairness/attack.js";
import { type Engine, enginesOf } from "./full/engines.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { median } from "./report/figures.js";
import { machineLine, thisMachine } from "./report/machine.js";
import { tableOf } from "./report/table.js";
import { AdminClient } from "./servers/admin-client.js";
import { freePort, stop } from "./servers/programs.js";
import { problemsInJournal, runKesc, type Service } from "./servers/service.js";
import { progress, Stage } from "./stage.js";

const USAGE = `node dist/bench/suspend.js [options], with PostgreSQL if its URL is in POSTGRES_URL
  --rounds <n>     measure each act this many times (11)
  --engine <name>  sqlite or postgres alone`;
/** One organization has at most half of the queue: KESC_QUEUE_MAX is 10,000. */
const WAITING_MIN = 4_500;
const POLL_MILLIS = 250;
const FULL_SECONDS_MAX = 60;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "11" }, engine: { type: "string", default: "" } },
  });
  return { rounds: wholeNumberOf("--rounds", values.rounds, { min: 1, max: 1_000 }), engine: values.engine };
});

/**
 * WhoAmI commits nothing: it is the yardstick, and shows what the way to the server costs.
 * "recorded" is the time from the call to the start of its commit, which the row of the book has.
 */
const CALLS = [
  "WhoAmI",
  "SuspendOrganization, recorded",
  "SuspendOrganization",
  "RevokeApiKey, recorded",
  "RevokeApiKey",
] as const;

/** The milliseconds of each call, by what was called. */
type Times = Record<(typeof CALLS)[number], number[]>;

interface Measured {
  readonly engine: string;
  readonly idle: Times;
  readonly full: Times;
  /** The waiting mints before each act, and the seconds that the oldest had waited. */
  readonly waiting: number[];
  readonly oldestSeconds: number[];
  /** The mean time of a commit under load. */
  commitMillis: number;
}

const kesc = kescAt(REPOSITORY);
const machine = thisMachine(kesc);
const measured: Measured[] = [];
await Stage.run(kesc, async (stage) => {
  for (const engine of enginesOf(options)) measured.push(await measure(stage, engine));
  const problems = stage.takeProblems();
  if (problems.length > 0) throw new Error(`WRONG: ${problems.join("; ")}`);
  print();
});

async function measure(stage: Stage, { name: engine, newDatabase }: Engine): Promise<Measured> {
  const [operators, metrics] = [await freePort(), await freePort()];
  const databaseUrl = await newDatabase("suspend");
  const service = await stage.startService(`suspend-${engine}`, {
    env: {
      KESC_OPERATOR_ADDRESS: `127.0.0.1:${String(operators)}`,
      KESC_ADMIN_ADDRESS: `127.0.0.1:${String(metrics)}`,
      // A resumption between two rounds needs nobody else.
      KESC_FOUR_EYES: "none",
    },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  const admin = new AdminClient(`127.0.0.1:${String(operators)}`, await newOperator(service));
  const result: Measured = {
    engine,
    idle: noTimes(),
    full: noTimes(),
    waiting: [],
    oldestSeconds: [],
    commitMillis: 0,
  };
  const { response } = await admin.call(Rpcs.listOrganizations, {});
  const organizationId = response.organizations[0]?.id ?? "";
  progress(`${engine}: without load`);
  for (let round = 0; round < options.rounds; round++) {
    for (const act of [whoAmI, revoke, suspend]) await act(admin, organizationId, result.idle);
    await admin.call(Rpcs.resumeOrganization, { organization_id: organizationId, note: "bench" });
  }
  const before = await scrapeOf(metrics);
  const flood = await stage.startOwn("hostile", "fairness/hostile.js");
  flood.process.send(mintsWithoutEnd(service));
  for (let round = 1; round <= options.rounds; round++) {
    progress(`${engine}: round ${String(round)} of ${String(options.rounds)}`);
    for (const act of [whoAmI, revoke, suspend]) {
      const { waiting, oldestSeconds } = await fullQueue(metrics);
      result.waiting.push(waiting);
      result.oldestSeconds.push(oldestSeconds);
      await act(admin, organizationId, result.full);
    }
    await admin.call(Rpcs.resumeOrganization, { organization_id: organizationId, note: "bench" });
  }
  const after = await scrapeOf(metrics);
  result.commitMillis = meanMillis(before, after);
  await stop(flood);
  admin.close();
  await stop(service.program);
  for (const problem of await problemsInJournal(service)) stage.blame(problem);
  return result;
}

function noTimes(): Times {
  return Object.fromEntries(CALLS.map((name) => [name, [] as number[]])) as Times;
}

async function newOperator({ kesc: command, startOptions }: Service): Promise<string> {
  const made = await runKesc(command, ["operator", "create", "Bench", "--role", "admin", "--json"], {
    ...startOptions.env,
  });
  return (made as { readonly key: string }).key;
}

async function whoAmI(admin: AdminClient, _: string, times: Times): Promise<void> {
  times.WhoAmI.push((await admin.call(Rpcs.whoAmI, {})).millis);
}

async function revoke(admin: AdminClient, organization_id: string, times: Times): Promise<void> {
  const key = { organization_id, name: "bench", scopes: ["transactions:write"], never_expires: true };
  const { response } = await admin.call(Rpcs.createApiKey, key);
  const sentAt = Date.now();
  const { millis, replayed } = await admin.call(Rpcs.revokeApiKey, { api_key_id: response.api_key?.id ?? "" });
  if (replayed) throw new Error("the key was revoked before");
  times.RevokeApiKey.push(millis);
  times["RevokeApiKey, recorded"].push((await newestActAt(admin, organization_id)) - sentAt);
}

async function suspend(admin: AdminClient, organization_id: string, times: Times): Promise<void> {
  const sentAt = Date.now();
  const { millis, replayed } = await admin.call(Rpcs.suspendOrganization, { organization_id, note: "bench" });
  if (replayed) throw new Error("the organization was suspended before");
  times.SuspendOrganization.push(millis);
  times["SuspendOrganization, recorded"].push((await newestActAt(admin, organization_id)) - sentAt);
}

/** The time of the newest row about the organization itself. */
async function newestActAt(admin: AdminClient, organization_id: string): Promise<number> {
  const { response } = await admin.call(Rpcs.listJournal, { organization_id, own: true, page_size: 1 });
  const { seconds = 0, nanos = 0 } = response.entries[0]?.line?.recorded_at ?? {};
  return Number(seconds) * 1_000 + nanos / 1_000_000;
}

/** Resolves once the organization's share of the queue is full. */
async function fullQueue(port: number): Promise<{ readonly waiting: number; readonly oldestSeconds: number }> {
  // The server keeps the text of a scrape for a second.
  await sleep(1_100);
  for (let polls = 0; polls < (FULL_SECONDS_MAX * 1_000) / POLL_MILLIS; polls++) {
    const scrape = await scrapeOf(port);
    const waiting = scrape.sum("kesc_queue_length") ?? 0;
    if (waiting >= WAITING_MIN) return { waiting, oldestSeconds: scrape.max("kesc_queue_age_seconds") ?? NaN };
    await sleep(POLL_MILLIS);
  }
  throw new Error(`the queue had never ${String(WAITING_MIN)} mints`);
}

async function scrapeOf(port: number): Promise<Scrape> {
  return new Scrape(await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text(), 0);
}

/** The mean time of the commits between two scrapes. */
function meanMillis(before: Scrape, after: Scrape): number {
  const grown = (name: string): number => (after.sum(name) ?? NaN) - (before.sum(name) ?? 0);
  return (1_000 * grown("kesc_commit_seconds_sum")) / grown("kesc_commit_seconds_count");
}

function print(): void {
  const row = (name: string, values: readonly number[]): string[] => [
    name,
    ...[median(values), Math.max(...values)].map((value) => value.toFixed(1)),
  ];
  const rows = measured.flatMap(({ engine, idle, full }) =>
    CALLS.flatMap((name) => [
      row(`${engine}: ${name}, without load`, idle[name]),
      row(`${engine}: ${name}, full queue`, full[name]),
    ]),
  );
  const queues = measured.map(({ engine, waiting, oldestSeconds, commitMillis }) => {
    const least = `at least ${String(Math.min(...waiting))} mints waited before each call`;
    const oldest = `the oldest for ${median(oldestSeconds).toFixed(1)} s (median)`;
    return `${engine}: ${least}, ${oldest}; a commit took ${commitMillis.toFixed(1)} ms (mean).\n`;
  });
  process.stdout.write(
    `${machineLine(machine)}, ${String(options.rounds)} rounds\n\n` +
      `${tableOf([["milliseconds over TCP", "median", "max"], ...rows])}\n\n${queues.join("")}`,
  );
}
