import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pg from "pg";

import { eventually } from "../eventually.js";
import { freePort, unprivileged } from "../postgres-node.js";

const PROGRAMS = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];

/** The path of the program; undefined if it is not installed. */
export function findPgbouncer(): string | undefined {
  return PROGRAMS.find((program) => existsSync(program));
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A PgBouncer in front of a PostgreSQL of the tests. */
export class Pgbouncer {
  readonly #process: ChildProcess;
  readonly #folder: string;
  /** The URL of the database, through PgBouncer. */
  readonly url: string;

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#process = child;
    this.#folder = folder;
    this.url = url;
  }

  /** Starts it in front of the database at `url`. It has only `connections` to PostgreSQL. */
  static async start(
    program: string,
    { url, mode, connections }: { url: string; mode: "session" | "transaction"; connections: number },
  ): Promise<Pgbouncer> {
    const target = new URL(url);
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "kesc-pgbouncer-"));
    writeFileSync(join(folder, "users.txt"), `"${target.username}" ""\n`);
    writeFileSync(
      join(folder, "pgbouncer.ini"),
      `[databases]
* = host=127.0.0.1 port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = ${mode}
default_pool_size = ${String(connections)}
max_client_conn = 200
server_tls_sslmode = disable
ignore_startup_parameters = extra_float_digits,statement_timeout,idle_in_transaction_session_timeout
`,
    );
    // PgBouncer refuses to run as root, and its user must read the files.
    chmodSync(folder, 0o755);
    const child = spawn(program, [join(folder, "pgbouncer.ini")], { ...unprivileged(), stdio: "ignore" });
    const bouncer = new Pgbouncer(child, folder, Object.assign(new URL(url), { port: String(port) }).href);
    await eventually(() => answers(bouncer.url), { what: () => "PgBouncer did not start" });
    return bouncer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGINT");
    await exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
