import { setTimeout as sleep } from "node:timers/promises";

import { atTheEnd } from "../../support/at-the-end.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { eventually } from "../../support/eventually.js";
import { PostgresNode } from "../../support/postgres-node.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";
import { TcpForwarder } from "../../support/tcp-forwarder.js";
import type { Random } from "../random.js";
import { audit } from "./audit.js";
import { Clients } from "./clients.js";
import { type Result, resultOf } from "./result.js";
import { Victim } from "./victim.js";

const STANDBY = "standby";
const MILLIS_BEFORE_KILL_MIN = 1_000;
const MILLIS_BEFORE_KILL_MAX = 3_000;
const MILLIS_AFTER_FAILOVER = 2_000;
const SYNC_MILLIS_MAX = 30_000;

/** Two servers of PostgreSQL, and the stable address at which whichever is the primary is found. */
interface Pair {
  readonly primary: PostgresNode;
  readonly standby: PostgresNode;
  readonly address: TcpForwarder;
  readonly databaseUrl: string;
}

/**
 * A primary that commits nothing before its standby has it on disk is killed with -9 under load;
 * the standby is promoted, and found at the same address. The server lives through it. Where the
 * loss is silent, nobody tells the server that its connections are gone, as when the primary's
 * whole machine is.
 */
export async function failover({ random, silent }: { random: Random; silent: boolean }): Promise<Result> {
  const { primary, standby, address, databaseUrl } = await startPair();
  const [{ key }] = await withKeys(databaseUrl, makeTenants);
  const server = new Victim(databaseUrl);
  atTheEnd(() => server.kill());
  await server.start();
  const clients = new Clients(server.address, { key, random });
  await clients.start();
  await sleep(random.between(MILLIS_BEFORE_KILL_MIN, MILLIS_BEFORE_KILL_MAX));

  if (silent) address.strand();
  await primary.kill();
  const killedAt = performance.now();
  const firstGoodAnswer = clients.firstGoodAnswer();
  // Before it is promoted, as it may happen: until then it is there, and answers, and must not be
  // asked.
  address.target = standby.port;
  if (!silent) address.cut();
  await standby.query("SELECT pg_promote()");
  const millisToPromotion = performance.now() - killedAt;
  const millisToGoodAnswer = await firstGoodAnswer;

  await sleep(MILLIS_AFTER_FAILOVER);
  await clients.stop();
  const caller = new GrpcCaller(server.address, { key });
  const audited = await audit(clients.acknowledged, { caller, databaseUrl });
  caller.close();
  const { died } = server;
  await server.kill();
  await address.stop();
  await standby.kill();
  return {
    ...resultOf(1, { clients, audit: audited, died }),
    failover: { silent, millisToPromotion, millisToGoodAnswer },
  };
}

async function startPair(): Promise<Pair> {
  const primary = await PostgresNode.create();
  atTheEnd(async () => {
    await primary.kill();
    primary.removeData();
  });
  await primary.start();
  await primary.createDatabase("kesc");
  await primary.end("SIGINT");
  const standby = await primary.standby(STANDBY);
  atTheEnd(() => standby.kill());
  await primary.start({ synchronous_standby_names: STANDBY, synchronous_commit: "on" });
  await standby.start();
  await inSync(primary);
  const address = await TcpForwarder.start(primary.port);
  return { primary, standby, address, databaseUrl: `postgres://kesc@127.0.0.1:${String(address.port)}/kesc` };
}

async function inSync(primary: PostgresNode): Promise<void> {
  const isSync = async (): Promise<boolean> => {
    const [standby] = await primary.query("SELECT sync_state FROM pg_stat_replication");
    return standby?.["sync_state"] === "sync";
  };
  await eventually(isSync, { millisMax: SYNC_MILLIS_MAX, what: () => "the standby does not follow" });
}
