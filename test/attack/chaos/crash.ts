import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { atTheEnd } from "../../support/at-the-end.js";
import { PostgresNode } from "../../support/postgres-node.js";
import { kesc } from "../../support/service/kesc.js";
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

/** Kills something, and starts it again. Returns what it was. */
type Kill = (victims: readonly Victim[]) => Promise<string>;

export const SERVERS = 3;
export const ORGANIZATIONS = 6;
const MILLIS_BETWEEN_KILLS_MAX = 1_000;

/** Kills a server on SQLite with -9 at any moment, and starts it again. */
export async function crashSqlite(options: CrashOptions): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-chaos-"));
  atTheEnd(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
  const load = { servers: 1, organizations: 2, random: options.random };
  return crash(`sqlite:${join(folder, "kesc.db")}`, { ...options, load }, killServer(options.random));
}

/**
 * Kills one of several servers on PostgreSQL, or all their connections, or PostgreSQL itself, at
 * any moment, and starts it again. With more than one cell, each has some of the books.
 */
export async function crashPostgres(options: CrashOptions & { readonly cells: number }): Promise<Result> {
  const { random, cells } = options;
  const postgres = await PostgresNode.create();
  atTheEnd(async () => {
    await postgres.kill();
    postgres.removeData();
  });
  await postgres.start();
  const url = await postgres.createDatabase("kesc");
  const { code, stderr } = await kesc(["migrate", "--cells", String(cells)], { DATABASE_URL: url });
  if (code !== 0) throw new Error(`kesc migrate ended with ${String(code)}: ${stderr}`);
  const kills: readonly { readonly weight: number; readonly kill: Kill }[] = [
    { weight: 5, kill: killServer(random) },
    {
      weight: 2,
      kill: async () => {
        const ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'kesc'";
        await postgres.query(ended);
        return "all connections";
      },
    },
    {
      weight: 1.5,
      kill: async () => {
        // What an immediate restart does.
        await postgres.end("SIGQUIT");
        await postgres.start();
        return "PostgreSQL, immediately";
      },
    },
    {
      weight: 1.5,
      kill: async () => {
        await postgres.kill();
        await postgres.start();
        return "PostgreSQL with -9";
      },
    },
  ];
  const load = { servers: SERVERS, organizations: ORGANIZATIONS, random };
  return crash(url, { ...options, load }, (victims) => random.pickWeighted(kills).kill(victims));
}

function killServer(random: Random): Kill {
  return async (victims) => {
    const victim = random.pick(victims);
    await victim.kill();
    await victim.start();
    return "server";
  };
}

function crash(
  databaseUrl: string,
  { kills, seconds, random, load }: CrashOptions & { load: Parameters<typeof underLoad>[1] },
  kill: Kill,
): Promise<Result> {
  return underLoad(databaseUrl, load, async ({ victims }) => {
    const deadline = performance.now() + seconds * 1_000;
    const killed: string[] = [];
    while (killed.length < kills && performance.now() < deadline) {
      await sleep(random.between(0, MILLIS_BETWEEN_KILLS_MAX));
      killed.push(await kill(victims));
    }
    return killed;
  });
}
