import { chmodSync } from "node:fs";

import { PostgresNode } from "../../test/support/postgres-node.js";
import { rounded } from "../figures.js";
import { type Program, stop } from "../servers.js";
import { newTenant, problemsInBooks, type Service } from "../service.js";
import { checkBooks } from "./books.js";
import { grpcProbe } from "./grpc-probes.js";
import { checkTpcB, findPgbench, Pgbench } from "./pgbench.js";
import { inRounds, type Probe, samplesOf, type Series } from "./probe.js";
import { type Figure, type Findings, medianOf, ratioOf } from "./report.js";
import { mintOverConnections } from "./sql-connections.js";
import {
  checkSqlLedgers,
  createSqlLedgers,
  DOUBLE_ENTRY,
  SQL_FUNCTION,
  SQL_MINTS,
  type SqlMints,
} from "./sql-ledger.js";
import { progress, type Stage } from "./stage.js";

const IN_FLIGHT = [16, 100, 400, 1_000] as const;
const BATCH_MAXES = [64, 256] as const;
const DEFAULT_BATCH_MAX = 256;
/** So many on one database. */
const SERVERS = [2, 4] as const;
/** With as many accounts as one organization has otherwise. */
const ORGANIZATIONS = 20;
const ACCOUNTS_OF_EACH = 5;
const SQL_CONNECTIONS = 16;

const TPC_B = "pgbench's TPC-B, 16 connections";
const oneServerAt = (inFlight: number): string => `mint, one server @ ${String(inFlight)}`;
const serversAt = (servers: number, inFlight: number): string =>
  `mint, ${String(servers)} servers @ ${String(inFlight)}`;
const hotAt = (inFlight: number): string => `mint, one hot account @ ${String(inFlight)}`;
const organizationsAt = (inFlight: number): string =>
  `mint, ${String(ORGANIZATIONS)} organizations @ ${String(inFlight)}`;
const batchMaxAt = (batchMax: number, inFlight: number): string =>
  batchMax === DEFAULT_BATCH_MAX
    ? oneServerAt(inFlight)
    : `mint, KESC_BATCH_MAX=${String(batchMax)} @ ${String(inFlight)}`;

/** Mints on a durable PostgreSQL, next to what SQL alone does there. */
export async function postgres(stage: Stage): Promise<Findings> {
  // PostgreSQL runs as another user when we are root, and has to get to its data.
  chmodSync(stage.folder, 0o711);
  progress("postgres: starting");
  const server = await PostgresNode.create(stage.folder);
  try {
    await server.start();
    return await measure(stage, server);
  } finally {
    await server.end("SIGINT");
    server.removeData();
  }
}

async function measure(stage: Stage, server: PostgresNode): Promise<Findings> {
  const settings = await durableSettings(server);
  const sql = await sqlLedgers(stage, server);
  const kesc = await services(stage, server);
  const series = await inRounds(stage, "postgres", [...sql.probes, ...kesc.probes]);
  await kesc.check();
  await sql.check();
  return { settings: { ...settings, "SQL by": sql.by }, series, figures: figuresOf(series) };
}

/** The settings that make a commit durable. Throws when they do not. */
async function durableSettings(server: PostgresNode): Promise<Record<string, string>> {
  const names = ["server_version", "fsync", "synchronous_commit", "full_page_writes"];
  const rows = await Promise.all(names.map((name) => server.query(`SHOW ${name}`)));
  const settings = Object.fromEntries(rows.map(([row], i) => [names[i] ?? "", String(Object.values(row ?? {})[0])]));
  for (const name of names.slice(1)) {
    if (settings[name] !== "on")
      throw new Error(`PostgreSQL is not durable: ${name} is ${settings[name] ?? "unknown"}`);
  }
  return settings;
}

/** Probes, and the check of the books that follows them. */
interface Measured {
  probes: Probe[];
  check: () => Promise<void>;
}

/** The yardsticks: the SQL ledgers, and TPC-B where there is a pgbench. */
async function sqlLedgers(stage: Stage, server: PostgresNode): Promise<Measured & { by: string }> {
  const program = findPgbench();
  const pgbench = program === undefined ? undefined : new Pgbench(program, stage.folder);
  const databaseUrl = await server.createDatabase("sql_ledger");
  await createSqlLedgers(databaseUrl);
  const books = new Map<SqlMints, number>();
  let run = 0;
  const probes = SQL_MINTS.map((mints): Probe => ({
    name: mints.name,
    measure: async (seconds) => {
      const options = { connections: SQL_CONNECTIONS, seconds, run: ++run, mints };
      const result = await (pgbench?.mint(databaseUrl, options) ?? mintOverConnections(databaseUrl, options));
      books.set(mints, (books.get(mints) ?? 0) + result.transactions);
      return result.sample;
    },
  }));
  const tpcB = pgbench === undefined ? undefined : await tpcBProbe(stage, server, pgbench);
  return {
    by: program ?? "the pg driver",
    probes: [...probes, ...(tpcB?.probes ?? [])],
    check: async () => {
      await checkSqlLedgers(stage, databaseUrl, books);
      await tpcB?.check();
    },
  };
}

async function tpcBProbe(stage: Stage, server: PostgresNode, pgbench: Pgbench): Promise<Measured> {
  const databaseUrl = await server.createDatabase("tpc_b");
  await pgbench.prepareTpcB(databaseUrl);
  let transactions = 0;
  const probe: Probe = {
    name: TPC_B,
    measure: async (seconds) => {
      const result = await pgbench.tpcB(databaseUrl, { connections: SQL_CONNECTIONS, seconds });
      transactions += result.transactions;
      return result.sample;
    },
  };
  return { probes: [probe], check: () => checkTpcB(stage, databaseUrl, transactions) };
}

/**
 * The service: one server, several on one database, one hot account, many organizations, and a
 * server with smaller batches.
 */
async function services(stage: Stage, server: PostgresNode): Promise<Measured> {
  const started = new Map<number, Service>();
  for (const batchMax of BATCH_MAXES) {
    const env = { KESC_BATCH_MAX: String(batchMax) };
    const databaseUrl = await server.createDatabase(`kesc_${String(batchMax)}`);
    started.set(batchMax, await stage.startService(`batch-max-${String(batchMax)}`, { databaseUrl, env }));
  }
  const main = serviceWith(started, DEFAULT_BATCH_MAX);
  const all: [Program, ...Program[]] = [main.program];
  while (all.length < Math.max(...SERVERS)) all.push(await stage.startServer(main, `server-${String(all.length + 1)}`));
  const hotAccount = main.accountIds.slice(0, 1);
  const many = await manyOrganizations(main);
  const mints = { call: "mint", yardstick: DOUBLE_ENTRY.name } as const;

  const probes = IN_FLIGHT.flatMap((inFlight) => [
    ...SERVERS.map((servers) =>
      grpcProbe(stage, main, {
        ...mints,
        inFlight,
        name: serversAt(servers, inFlight),
        programs: [main.program, ...all.slice(1, servers)],
      }),
    ),
    grpcProbe(stage, main, { ...mints, inFlight, name: hotAt(inFlight), accountIds: hotAccount }),
    grpcProbe(stage, many.service, {
      ...mints,
      inFlight,
      name: organizationsAt(inFlight),
      apiKeys: many.apiKeys,
    }),
    // The others have servers of their own: next to each other, so that they can be compared.
    ...BATCH_MAXES.map((batchMax) =>
      grpcProbe(stage, serviceWith(started, batchMax), { ...mints, inFlight, name: batchMaxAt(batchMax, inFlight) }),
    ),
  ]);
  return {
    probes,
    check: async () => {
      await many.check(stage);
      for (const service of started.values()) await checkBooks(stage, service);
      for (const program of [...all.slice(1), ...[...started.values()].map(({ program }) => program)])
        await stop(program);
    },
  };
}

/**
 * Organizations beside the service's own, seen as one service: its accounts are theirs, each with
 * the key that it needs.
 */
async function manyOrganizations(
  main: Service,
): Promise<{ service: Service; apiKeys: string[]; check: (stage: Stage) => Promise<void> }> {
  const tenants: Service[] = [];
  while (tenants.length < ORGANIZATIONS) tenants.push(await newTenant(main, ACCOUNTS_OF_EACH));
  const accountIds = tenants.flatMap((tenant) => tenant.accountIds);
  const service = { ...main, accountIds, acknowledged: accountIds.map(() => 0), nextSerial: 1 };
  return {
    service,
    apiKeys: tenants.flatMap(({ apiKey, accountIds: ids }) => ids.map(() => apiKey)),
    check: async (stage) => {
      for (const [i, tenant] of tenants.entries()) {
        const from = i * ACCOUNTS_OF_EACH;
        const acknowledged = service.acknowledged.slice(from, from + ACCOUNTS_OF_EACH);
        for (const problem of await problemsInBooks({ ...tenant, acknowledged })) stage.blame(problem);
      }
    },
  };
}

function serviceWith(services: ReadonlyMap<number, Service>, batchMax: number): Service {
  const service = services.get(batchMax);
  if (service === undefined) throw new Error(`no server has KESC_BATCH_MAX=${String(batchMax)}`);
  return service;
}

function figuresOf(series: Series[]): Figure[] {
  const ratio = (name: string, of: string, to: string): Figure => {
    const value = rounded(ratioOf(samplesOf(series, of), samplesOf(series, to), "callsPerSecond"), 2);
    return { name, value, unit: "" };
  };
  const rateOf = (name: string): number => medianOf(samplesOf(series, name), "callsPerSecond");
  const best = (inFlight: number): number =>
    [...BATCH_MAXES].sort((a, b) => rateOf(batchMaxAt(b, inFlight)) - rateOf(batchMaxAt(a, inFlight)))[0] ?? NaN;
  const hasTpcB = series.some(({ name }) => name === TPC_B);
  return IN_FLIGHT.flatMap((inFlight) => {
    const at = `, ${String(inFlight)} in flight`;
    return [
      ratio(`one server ÷ SQL double entry${at}`, oneServerAt(inFlight), DOUBLE_ENTRY.name),
      ratio(`one server ÷ SQL function${at}`, oneServerAt(inFlight), SQL_FUNCTION.name),
      ...(hasTpcB ? [ratio(`one server ÷ TPC-B${at}`, oneServerAt(inFlight), TPC_B)] : []),
      ...SERVERS.map((servers) =>
        ratio(`${String(servers)} servers ÷ one${at}`, serversAt(servers, inFlight), oneServerAt(inFlight)),
      ),
      ratio(`one hot account ÷ 100 accounts${at}`, hotAt(inFlight), oneServerAt(inFlight)),
      ratio(`${String(ORGANIZATIONS)} organizations ÷ one${at}`, organizationsAt(inFlight), oneServerAt(inFlight)),
      { name: `fastest KESC_BATCH_MAX${at}`, value: best(inFlight), unit: "" },
    ];
  });
}
