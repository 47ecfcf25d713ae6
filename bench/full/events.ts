import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { SCOPES } from "../../src/domain/api-key.js";
import { createSealKeyFile } from "../../src/seals/key-file.js";
import { now } from "../../src/startup/clock.js";
import { keys } from "../../src/storage/keys.js";
import { beginWatching, heardBy } from "../events/listening.js";
import type { Options } from "../options.js";
import { rounded } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { type FigureName, ratioOf, type Sample, type Series } from "../report/series.js";
import { inDatabase, organizationOf } from "../servers/in-database.js";
import { measuredLoad } from "../servers/measured-load.js";
import { type Program, stop } from "../servers/programs.js";
import type { Service } from "../servers/service.js";
import { ServiceClient } from "../servers/service-client.js";
import { progress, type Stage } from "../stage.js";
import { type Engine, enginesOf } from "./engines.js";

const IN_FLIGHT = 100;
const RAMP_SECONDS = 0.2;
const WARM_UP_ROUNDS = 6;
const MANY = 1_000;
const AT_A_TIME = 20;
const WATCHERS_OF_ONE = 100;
const LAG_MINTS_PER_SECOND = 100;
const LAST_EVENT_MILLIS = 1_000;

/** A service, and the key of each organization that gets mints. */
interface Given {
  service: Service;
  apiKeys: readonly string[];
  /** One account of each organization if there are several. */
  accountIds: string[];
}

interface GivenOptions {
  organizations: number;
  databaseUrl: string | undefined;
  env?: Record<string, string>;
}

/**
 * The part `events`: what watchers, a webhook and seals cost the mints, and how late events arrive.
 * PostgreSQL takes part if its URL is in POSTGRES_URL.
 */
export async function events(stage: Stage, options: Options): Promise<Findings> {
  const { rounds, seconds } = options;
  const findings: Findings = { settings: { rounds, seconds }, series: [], figures: [] };
  for (const engine of enginesOf(options)) {
    for (const measure of [allKinds, manyWatched, hundredWatchers]) {
      const { series, figures } = await measure(stage, engine, options);
      findings.series.push(...series);
      findings.figures.push(...figures);
    }
  }
  return findings;
}

type Measure = (stage: Stage, engine: Engine, options: Options) => Promise<Pick<Findings, "series" | "figures">>;

/** Mints of an organization with a watcher and a webhook, in a book that is sealed. */
const allKinds: Measure = async (stage, engine, options) => {
  const keyFile = join(stage.folder, `seal-${engine.name}.key`);
  createSealKeyFile(keyFile);
  const quiet = await given(stage, `quiet-${engine.name}`, {
    organizations: 1,
    databaseUrl: await engine.newDatabase("events_quiet"),
  });
  const heard = await given(stage, `heard-${engine.name}`, {
    organizations: 1,
    databaseUrl: await engine.newDatabase("events_heard"),
    env: { KESC_SEAL_KEY_FILE: keyFile, KESC_WEBHOOKS_ALLOW: "127.0.0.1" },
  });
  const listener = await newListener(stage);
  const client = new ServiceClient(heard.service.program.address, heard.apiKeys[0] ?? "");
  await client.createWebhookEndpoint(`http://${listener.address}/`);
  client.close();
  await beginWatching(listener, heard.service.program.address, heard.apiKeys);
  return compare(stage, { engine, what: "a watcher, a webhook and seals", quiet, heard, listener }, options);
};

/** Mints of a thousand organizations, each of which has a watcher. */
const manyWatched: Measure = async (stage, engine, options) => {
  const both = [];
  for (const name of ["unwatched", "watched"]) {
    const databaseUrl = await engine.newDatabase(`events_${name}`);
    both.push(await given(stage, `${name}-${engine.name}`, { organizations: MANY, databaseUrl }));
  }
  const [quiet, heard] = both;
  if (quiet === undefined || heard === undefined) throw new Error("two services were started");
  const listener = await newListener(stage);
  await beginWatching(listener, heard.service.program.address, heard.apiKeys);
  return compare(stage, { engine, what: "1,000 watchers of as many organizations", quiet, heard, listener }, options);
};

/** The lag of the watchers of one organization that mints at a slow pace. */
const hundredWatchers: Measure = async (stage, engine, { rounds, seconds }) => {
  const databaseUrl = await engine.newDatabase("events_lag");
  const one = await given(stage, `lag-${engine.name}`, { organizations: 1, databaseUrl });
  const listener = await newListener(stage);
  const watchers = Array.from({ length: WATCHERS_OF_ONE }, () => one.apiKeys[0] ?? "");
  await beginWatching(listener, one.service.program.address, watchers);
  await mints(stage, one, { seconds: seconds * WARM_UP_ROUNDS, ratePerSecond: LAG_MINTS_PER_SECOND });
  await sleep(LAST_EVENT_MILLIS);
  await heardBy(listener);
  const before = one.service.nextSerial;
  await mints(stage, one, { seconds: rounds * seconds, ratePerSecond: LAG_MINTS_PER_SECOND });
  await sleep(LAST_EVENT_MILLIS);
  const { events: arrived, lagP99Millis, problem } = await heardBy(listener);
  const expected = (one.service.nextSerial - before) * WATCHERS_OF_ONE;
  if (arrived !== expected) stage.blame(`${String(arrived)} events arrived, not ${String(expected)}`);
  if (problem !== undefined) stage.blame(`a watcher: ${problem}`);
  await stop(listener);
  await stage.checkBooks(one.service);
  const name = `lag of events at 100 watchers of one organization, p99, ${engine.name}`;
  return { series: [], figures: [{ name, value: rounded(lagP99Millis, 0), unit: "ms" }] };
};

function newListener(stage: Stage): Promise<Program> {
  return stage.startOwn("listener", "events/listener.js");
}

/** Starts a service. One organization has its hundred accounts, of several each has one. */
async function given(stage: Stage, name: string, { organizations, databaseUrl, env }: GivenOptions): Promise<Given> {
  const service = await stage.startService(name, {
    ...(env === undefined ? {} : { env }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  await stop(service.program);
  const apiKeys = await inDatabase(service, async (database) => {
    const stored = keys(database, now);
    const secrets: string[] = [];
    while (secrets.length < organizations) {
      const organizationId =
        organizations === 1
          ? await organizationOf(database, service.apiKey)
          : (await stored.createOrganization("bench")).id;
      const key = { organizationId, name: "bench", scopes: SCOPES, expiresAt: undefined };
      secrets.push((await stored.createApiKey(key)).secret);
    }
    return secrets;
  });
  service.program = await stage.startServer(service, name);
  if (organizations === 1) return { service, apiKeys, accountIds: service.accountIds };
  const accountIds: string[] = [];
  for (let from = 0; from < apiKeys.length; from += AT_A_TIME) {
    const created = apiKeys.slice(from, from + AT_A_TIME).map(async (apiKey) => {
      const client = new ServiceClient(service.program.address, apiKey);
      const ids = await client.createAccounts(1);
      client.close();
      return ids;
    });
    accountIds.push(...(await Promise.all(created)).flat());
  }
  return { service, apiKeys, accountIds };
}

interface Comparison {
  engine: Engine;
  what: string;
  quiet: Given;
  heard: Given;
  listener: Program;
}

/** Mints at one service and at the other in turn. The one that is not measured stands still. */
async function compare(
  stage: Stage,
  { engine, what, quiet, heard, listener }: Comparison,
  { rounds, seconds }: Options,
): Promise<Pick<Findings, "series" | "figures">> {
  const without: Series = { name: `mint without ${what}, ${engine.name}`, yardstick: null, samples: [] };
  const beside: Series = { name: `mint beside ${what}, ${engine.name}`, yardstick: without.name, samples: [] };
  for (let round = 0; round <= rounds; round++) {
    progress(`${what}, ${engine.name}: ${round === 0 ? "warming up" : `round ${String(round)} of ${String(rounds)}`}`);
    const length = { seconds: round === 0 ? seconds * WARM_UP_ROUNDS : seconds };
    const samples = [
      await whileStopped(heard.service, () => mints(stage, quiet, length)),
      await whileStopped(quiet.service, () => mints(stage, heard, length)),
    ] as const;
    if (round === 0) continue;
    without.samples.push(samples[0]);
    beside.samples.push(samples[1]);
  }
  const { events: arrived, deliveries, problem } = await heardBy(listener);
  progress(`${what}, ${engine.name}: ${String(arrived)} events and ${String(deliveries)} webhooks arrived`);
  if (arrived === 0) stage.blame(`${what}: no event arrived`);
  if (problem !== undefined) stage.blame(`${what}: ${problem}`);
  await stop(listener);
  for (const { service } of [quiet, heard]) await stage.checkBooks(service);
  const ratio = (name: string, figure: FigureName): Figure =>
    ratioFigure(
      `${name} of mints beside ${what} ÷ without, ${engine.name}`,
      ratioOf(beside.samples, without.samples, figure),
    );
  return { series: [without, beside], figures: [ratio("rate", "callsPerSecond"), ratio("main µs", "mainMicros")] };
}

async function whileStopped<Result>({ program }: Service, work: () => Promise<Result>): Promise<Result> {
  program.process.kill("SIGSTOP");
  try {
    return await work();
  } finally {
    program.process.kill("SIGCONT");
  }
}

async function mints(
  stage: Stage,
  { service, apiKeys, accountIds }: Given,
  { seconds, ratePerSecond }: { seconds: number; ratePerSecond?: number },
): Promise<Sample> {
  const isOne = apiKeys.length === 1;
  const { problems, ...sample } = await measuredLoad(
    { loader: stage.loader, service, programs: [service.program], booked: isOne },
    {
      transport: "grpc",
      call: "mint",
      inFlight: IN_FLIGHT,
      connections: 1,
      rampSeconds: RAMP_SECONDS,
      seconds,
      ...(isOne ? {} : { accountIds, apiKeys: [...apiKeys] }),
      ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    },
  );
  stage.blameAll(service.program.name, problems);
  return sample;
}
