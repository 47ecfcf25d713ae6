import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { atTheEnd } from "../../support/at-the-end.js";
import { PostgresNode } from "../../support/postgres-node.js";
import type { Random } from "../random.js";
import type { Result } from "./result.js";
import { underLoad } from "./under-load.js";
import type { Victim } from "./victim.js";

export interface CrashOptions {
  readonly kills: number;
  /** No kill comes later than this. */
  readonly seconds: number;
  readonly random: Random;
}

const MILLIS_BETWEEN_KILLS_MAX = 1_000;
// The share of kills that hit PostgreSQL and not the server.
const POSTGRES_KILLS_SHARE = 0.3;

/** Kills a server on SQLite with -9 at any moment, and starts it again. */
export async function crashSqlite(options: CrashOptions): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-chaos-"));
  atTheEnd(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
  return crash(`sqlite:${join(folder, "kesc.db")}`, options, async (victim) => {
    await victim.kill();
    await victim.start();
  });
}

/**
 * Kills a server on PostgreSQL, or PostgreSQL itself, with -9 at any moment, and starts it again.
 */
export async function crashPostgres(options: CrashOptions): Promise<Result> {
  const postgres = await PostgresNode.create();
  atTheEnd(async () => {
    await postgres.kill();
    postgres.removeData();
  });
  await postgres.start();
  const url = await postgres.createDatabase("kesc");
  return crash(url, options, async (victim) => {
    if (options.random.chance(POSTGRES_KILLS_SHARE)) {
      await postgres.kill();
      await postgres.start();
    } else {
      await victim.kill();
      await victim.start();
    }
  });
}

function crash(
  databaseUrl: string,
  { kills, seconds, random }: CrashOptions,
  kill: (victim: Victim) => Promise<void>,
): Promise<Result> {
  return underLoad(databaseUrl, random, async ({ victim }) => {
    const deadline = performance.now() + seconds * 1_000;
    let killed = 0;
    while (killed < kills && performance.now() < deadline) {
      await sleep(random.between(0, MILLIS_BETWEEN_KILLS_MAX));
      await kill(victim);
      killed += 1;
    }
    return killed;
  });
}
