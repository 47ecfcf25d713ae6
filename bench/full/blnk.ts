import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";

import type { Options } from "../options.js";
import { inRounds, loadProbe } from "../probe.js";
import { type Findings, ratioFigure } from "../report/report.js";
import { ratioOf, samplesOf } from "../report/series.js";
import { freePort, ownEnvironment } from "../servers/programs.js";
import { AMOUNT_CENTS, type Service } from "../servers/service.js";
import { progress, type Stage } from "../stage.js";
import { createDatabase, durableSettings } from "./postgres.js";

const IN_FLIGHT = [1, 4, 16, 64] as const;
const ACCOUNTS = 1_000;

const blnkAt = (inFlight: number): string => `Blnk @ ${String(inFlight)}`;
const kescAt = (inFlight: number): string => `KESC over REST @ ${String(inFlight)}`;

/**
 * The part `blnk`, which `make peers` runs: mints over REST beside transactions of Blnk, whose
 * command is in BLNK, on one PostgreSQL. Redis comes from the PATH.
 *
 * Blnk commits a transaction with `skip_queue` before it answers, so its workers do not run. It
 * locks the source of a transaction, so each caller has a source of its own.
 */
export async function blnk(stage: Stage, { rounds, seconds }: Options): Promise<Findings> {
  const { POSTGRES_URL: url, BLNK: program } = process.env;
  if (url === undefined || program === undefined)
    throw new Error("The part blnk needs a PostgreSQL server in POSTGRES_URL, and the command of Blnk in BLNK");
  const settings = await durableSettings(url);
  const service = await stage.startService("kesc", {
    databaseUrl: await createDatabase(url, "kesc"),
    accounts: ACCOUNTS,
  });
  const gateway = await stage.startGateway(service);
  const peer = await startBlnk(stage, program, await createDatabase(url, "blnk"));
  const probes = IN_FLIGHT.flatMap((inFlight) => {
    const mint = { call: "mint", inFlight } as const;
    const { ledger, sources } = peer;
    return [
      loadProbe(stage, ledger, { ...mint, name: blnkAt(inFlight), transport: "blnk", sources }),
      loadProbe(stage, service, {
        ...mint,
        name: kescAt(inFlight),
        transport: "rest",
        programs: [gateway],
        yardstick: blnkAt(inFlight),
      }),
    ];
  });
  const series = await inRounds(stage, { rounds, seconds }, { what: "blnk", probes });
  await stage.checkBooks(service);
  await checkBalances(stage, peer.ledger);
  return {
    settings: { rounds, seconds, accounts: ACCOUNTS, ...settings },
    series,
    figures: IN_FLIGHT.map((inFlight) => {
      const [own, other] = [kescAt(inFlight), blnkAt(inFlight)].map((name) => samplesOf(series, name));
      const name = `mints over REST ÷ transactions of Blnk, ${String(inFlight)} in flight`;
      return ratioFigure(name, ratioOf(own ?? [], other ?? [], "callsPerSecond"));
    }),
  };
}

interface Peer {
  ledger: Service;
  sources: string[];
}

/** Starts Redis and Blnk, with a destination for each account and a source for each caller. */
async function startBlnk(stage: Stage, program: string, databaseUrl: string): Promise<Peer> {
  const [redisPort, port] = [await freePort(), await freePort()];
  await stage.startForeign({
    name: "redis",
    entry: ["redis-server", "--bind", "127.0.0.1", "--port", String(redisPort), "--dir", stage.folder],
    listens: { address: `127.0.0.1:${String(redisPort)}`, isServing: () => isListening(redisPort) },
  });
  const env = {
    BLNK_DATA_SOURCE_DNS: `${databaseUrl}?sslmode=disable`,
    BLNK_REDIS_DNS: `127.0.0.1:${String(redisPort)}`,
    BLNK_SERVER_PORT: String(port),
    BLNK_ENABLE_TELEMETRY: "false",
    GIN_MODE: "release",
  };
  await promisify(execFile)(program, ["migrate", "up"], { env: { ...ownEnvironment(), ...env } });
  const address = `127.0.0.1:${String(port)}`;
  const startOptions = { name: "blnk", entry: [program], args: ["start"], env } as const;
  const server = await stage.startForeign({
    ...startOptions,
    args: [...startOptions.args],
    listens: { address, isServing: () => isListening(port) },
  });
  progress("blnk: creating balances");
  const { ledger_id } = await post(address, "/ledgers", { name: "bench" });
  const balances = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let made = 0; made < count; made++) {
      const { balance_id } = await post(address, "/balances", { ledger_id, currency: "KES" });
      ids.push(String(balance_id));
    }
    return ids;
  };
  const accountIds = await balances(ACCOUNTS);
  const ledger: Service = {
    program: server,
    startOptions: { name: "blnk", entry: [program], logFolder: stage.folder },
    kesc: stage.kesc,
    databaseUrl,
    apiKey: "",
    accountIds,
    acknowledged: accountIds.map(() => 0),
    nextSerial: 1,
  };
  return { ledger, sources: await balances(Math.max(...IN_FLIGHT)) };
}

/** Compares the balances with the transactions that Blnk acknowledged. */
async function checkBalances(stage: Stage, { program, accountIds, acknowledged }: Service): Promise<void> {
  for (const [index, id] of accountIds.entries()) {
    const { balance } = await json(await fetch(`http://${program.address}/balances/${id}`));
    const expected = (acknowledged[index] ?? 0) * AMOUNT_CENTS;
    if (balance !== expected) stage.blame(`blnk: a balance is ${String(balance)}, not ${String(expected)}`);
  }
}

async function post(address: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  return json(await fetch(`http://${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function json(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  if (!response.ok) throw new Error(`Blnk answered ${String(response.status)}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket
      .once("connect", () => {
        resolve(true);
      })
      .once("error", () => {
        resolve(false);
      });
    socket.once("connect", () => socket.destroy());
  });
}
