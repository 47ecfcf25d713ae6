import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const KESC = fileURLToPath(new URL("../../src/cli/kesc.js", import.meta.url));
const END_MILLIS_MAX = 30_000;

export type Variables = Readonly<Record<string, string>>;

/**
 * A folder of its own with the variables of a `kesc` that works in it, on ports that the machine
 * chooses.
 */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "kesc-cli-"));
  readonly databaseFile = join(this.folder, "data", "kesc.db");
  readonly variables: Variables = {
    DATABASE_URL: `sqlite:${this.databaseFile}`,
    KESC_GRPC_ADDRESS: "127.0.0.1:0",
    KESC_HTTP_ADDRESS: "127.0.0.1:0",
  };

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. */
export async function kesc(args: readonly string[], variables: Variables): Promise<Ended> {
  const options = { env: environment(variables), timeout: END_MILLIS_MAX };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [KESC, ...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | null; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** Runs a command that must work, with --json; answers what it prints. */
export async function kescJson<Answer>(args: readonly string[], variables: Variables): Promise<Answer> {
  const { code, stdout, stderr } = await kesc([...args, "--json"], variables);
  if (code !== 0) throw new Error(`kesc ${args.join(" ")} ended with ${String(code)}: ${stderr}`);
  return JSON.parse(stdout) as Answer;
}

/** A command that runs until it is stopped. */
export class RunningKesc {
  readonly process: ChildProcess;
  /** What it was when it became ready: for `serve` the gateway's. */
  readonly ready: Promise<{ readonly address: string; readonly grpcAddress?: string }>;
  readonly exited: Promise<number | string>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], variables: Variables) {
    this.process = fork(KESC, args, { env: environment(variables), silent: true });
    const { stdout, stderr } = this.process;
    if (stdout === null || stderr === null) throw new Error("the child has no output");
    stdout.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    // Not "close": a child from which we have disconnected never says it.
    const exited = once(this.process, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    this.exited = Promise.all([exited, once(stdout, "close"), once(stderr, "close")]).then(
      ([[code, signal]]) => code ?? signal ?? "",
    );
    this.ready = Promise.race([
      once(this.process, "message").then(([message]) => message as { address: string }),
      this.exited.then((exit) => {
        throw new Error(`kesc ${args.join(" ")} ended with ${String(exit)}: ${this.stderr}`);
      }),
    ]);
    // Heard by whoever waits for it.
    this.ready.catch(() => undefined);
  }

  /** Waits until it has printed the words. */
  async said(words: string): Promise<void> {
    while (!this.stdout.includes(words)) await sleep(10);
  }

  /** Sends the signal; answers the exit code, or the name of the signal that ended it. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | string> {
    this.process.kill(signal);
    return this.exited;
  }

  /** Its own children, by the command they run. */
  async children(): Promise<ReadonlyMap<string, number>> {
    const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,args="]);
    const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/));
    const own = rows.filter(([, parent]) => Number(parent) === this.process.pid);
    return new Map(
      own.map((row) => [row.find((word) => word === "server" || word === "gateway") ?? "", Number(row[0])]),
    );
  }
}

/** Ours, without what a developer's shell says to kesc. */
export function environment(variables: Variables): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(KESC_|DATABASE_URL$)/.test(name));
  return { ...Object.fromEntries(inherited), ...variables };
}
