import type { Options } from "../options.js";
import { inRounds, loadProbe } from "../probe.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { ratioOf, samplesOf } from "../report/series.js";
import type { Stage } from "../stage.js";
import { findPgbench, query, sqlLedger } from "./sql-ledger.js";

const IN_FLIGHT = [1, 4, 16, 100, 400, 1_000] as const;
const REST_IN_FLIGHT = [1, 4, 64] as const;
/** The other ways to load the service are measured with this many in flight. */
const MAIN_IN_FLIGHT = 400;

const oneServerAt = (inFlight: number): string => `mint, one server @ ${String(inFlight)}`;
const restAt = (inFlight: number): string => `REST mint @ ${String(inFlight)}`;
const TWO_SERVERS = `mint, two servers @ ${String(MAIN_IN_FLIGHT)}`;
const HOT_ACCOUNT = `mint, one hot account @ ${String(MAIN_IN_FLIGHT)}`;

/**
 * The part `postgres`: mints on a durable PostgreSQL, beside SQL alone on the same server. The
 * server's URL is in POSTGRES_URL; its user must be allowed to create databases.
 */
export async function postgres(stage: Stage, { rounds, seconds }: Options): Promise<Findings> {
  const url = process.env["POSTGRES_URL"];
  if (url === undefined) throw new Error("The part postgres needs the URL of a PostgreSQL server in POSTGRES_URL");
  const settings = await durableSettings(url);
  const sql = await sqlLedger(stage, await createDatabase(url, "sql_ledger"), findPgbench());
  const service = await stage.startService("kesc", { databaseUrl: await createDatabase(url, "kesc") });
  const programs = [service.program, await stage.startServer(service, "kesc-2")] as const;
  const gateway = await stage.startGateway(service);
  const hotAccount = service.accountIds.slice(0, 1);
  const mint = { call: "mint", inFlight: MAIN_IN_FLIGHT, yardstick: sql.probe.name } as const;
  const probes = [
    sql.probe,
    ...IN_FLIGHT.map((inFlight) => loadProbe(stage, service, { ...mint, inFlight, name: oneServerAt(inFlight) })),
    loadProbe(stage, service, { ...mint, name: TWO_SERVERS, programs }),
    loadProbe(stage, service, { ...mint, name: HOT_ACCOUNT, accountIds: hotAccount }),
    ...REST_IN_FLIGHT.map((inFlight) =>
      loadProbe(stage, service, {
        ...mint,
        transport: "rest",
        inFlight,
        name: restAt(inFlight),
        programs: [gateway],
      }),
    ),
  ];
  const series = await inRounds(stage, { rounds, seconds }, { what: "postgres", probes });
  await stage.checkBooks(service);
  await sql.check();

  const ratio = (name: string, of: string, to: string): Figure =>
    ratioFigure(name, ratioOf(samplesOf(series, of), samplesOf(series, to), "callsPerSecond"));
  const main = oneServerAt(MAIN_IN_FLIGHT);
  const at = `${String(MAIN_IN_FLIGHT)} in flight`;
  return {
    settings: { rounds, seconds, ...settings },
    series,
    figures: [
      ratio("PostgreSQL mints ÷ the shortest SQL function, 16 in flight", oneServerAt(16), sql.probe.name),
      ratio(`PostgreSQL mints ÷ the shortest SQL function, ${at}`, main, sql.probe.name),
      ratio(`PostgreSQL, two servers ÷ one on the same machine, ${at}`, TWO_SERVERS, main),
      ratio(`PostgreSQL, one hot account ÷ 100 accounts, ${at}`, HOT_ACCOUNT, main),
    ],
  };
}

/** Returns the URL of a new database. */
export async function createDatabase(url: string, purpose: string): Promise<string> {
  const name = `${purpose}_${String(Date.now())}`;
  await query(url, `CREATE DATABASE ${name}`);
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** The settings that make a commit durable. Throws when one is off. */
export async function durableSettings(url: string): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of ["server_version", "fsync", "synchronous_commit", "full_page_writes"]) {
    const value = String((await query(url, `SHOW ${name}`))[0]?.[name]);
    settings[name] = value;
    if (value === "off") throw new Error(`PostgreSQL is not durable: ${name} is off`);
  }
  return settings;
}
