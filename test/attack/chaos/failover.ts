import { setTimeout as sleep } from "node:timers/promises";

import { atTheEnd } from "../../support/at-the-end.js";
import { eventually } from "../../support/eventually.js";
import { PostgresNode } from "../../support/postgres-node.js";
import { TcpForwarder } from "../../support/tcp-forwarder.js";
import type { Random } from "../random.js";
import { ORGANIZATIONS, SERVERS } from "./crash.js";
import type { Result } from "./result.js";
import { underLoad } from "./under-load.js";

const STANDBY = "standby";
const MILLIS_BEFORE_KILL_MIN = 1_000;
const MILLIS_BEFORE_KILL_MAX = 3_000;
const MILLIS_AFTER_FAILOVER = 2_000;
const SYNC_MILLIS_MAX = 30_000;

/** Two servers of PostgreSQL, and one stable address that leads to the primary. */
interface Pair {
  readonly primary: PostgresNode;
  readonly standby: PostgresNode;
  readonly address: TcpForwarder;
  readonly databaseUrl: string;
}

/**
 * Kills a primary with -9 under load, and promotes its standby at the same address; the servers
 * must live through it. The primary commits nothing before the standby has it on disk. A silent
 * loss does not close the servers' connections, as when the primary's whole machine is gone.
 */
export async function failover({ random, silent }: { random: Random; silent: boolean }): Promise<Result> {
  const { primary, standby, address, databaseUrl } = await startPair();
  let millisToPromotion = 0;
  let millisToGoodAnswer = 0;
  const load = { servers: SERVERS, organizations: ORGANIZATIONS, random };
  const result = await underLoad(databaseUrl, load, async ({ clients }) => {
    await sleep(random.between(MILLIS_BEFORE_KILL_MIN, MILLIS_BEFORE_KILL_MAX));
    if (silent) address.strand();
    await primary.kill();
    const killedAt = performance.now();
    const firstGoodAnswer = Promise.race(clients.map((each) => each.firstGoodAnswer()));
    // The address may lead to the standby before it is promoted: no server may read there.
    address.target = standby.port;
    if (!silent) address.cut();
    await standby.query("SELECT pg_promote()");
    millisToPromotion = performance.now() - killedAt;
    millisToGoodAnswer = await firstGoodAnswer;
    await sleep(MILLIS_AFTER_FAILOVER);
    return [silent ? "primary, silently" : "primary"];
  });
  await address.stop();
  await standby.kill();
  return { ...result, failover: { silent, millisToPromotion, millisToGoodAnswer } };
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
