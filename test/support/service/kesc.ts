import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { runKesc } from "../../../src/cli/run-kesc.js";
import { putMigratedSqlite } from "../databases.js";
import { NO_SEAL_KEY_FILE, TEST_MASTER_KEY_FILE } from "../master-key.js";

/**
 * The bundle, which is what ships. TEST_KESC names another file: `make mutants` plants its bugs in
 * the compiled files.
 */
export const KESC = process.env["TEST_KESC"] ?? fileURLToPath(new URL("../../../bin/kesc.js", import.meta.url));
// `kesc verify` gives way to all other programs: on a busy machine it takes minutes.
const END_MILLIS_MAX = 240_000;

export type Variables = Readonly<Record<string, string>>;

/**
 * A folder of its own, with the variables of a `kesc` that works in it, on ports that the machine
 * chooses.
 */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "kesc-cli-"));
  readonly databaseFile = join(this.folder, "data", "kesc.db");
  readonly databaseUrl = `sqlite:${this.databaseFile}`;
  readonly masterKeyFile = join(this.folder, "keys", "master.key");
  readonly sealKeyFile = join(this.folder, "keys", "seal.key");
  readonly variables: Variables = {
    DATABASE_URL: this.databaseUrl,
    KESC_MASTER_KEY_FILE: this.masterKeyFile,
    KESC_SEAL_KEY_FILE: this.sealKeyFile,
    KESC_GRPC_ADDRESS: "127.0.0.1:0",
    KESC_HTTP_ADDRESS: "127.0.0.1:0",
    KESC_CONSOLE_ADDRESS: "127.0.0.1:0",
  };

  /** The master key file is a copy: a test may change it. */
  constructor() {
    mkdirSync(dirname(this.masterKeyFile));
    copyFileSync(TEST_MASTER_KEY_FILE, this.masterKeyFile);
  }

  /** With a database that has the current schema, and nothing in it. */
  static async migrated(): Promise<Place> {
    const place = new Place();
    await putMigratedSqlite(place.databaseFile);
    return place;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one command to its end. `input` is its standard input. Commands run in this process; the
 * programs, which serve, have a process of their own.
 */
export async function kesc(
  args: readonly string[],
  variables: Variables,
  { input = "" }: { input?: string } = {},
): Promise<Ended> {
  if (PROGRAMS.has(args[0] ?? "")) return kescProcess(args, variables);
  // The libraries that read others, such as PGUSER, read them from the process.
  const foreign = Object.keys(variables).filter((name) => !/^(KESC_|DATABASE_URL)/.test(name));
  if (foreign.length > 0) throw new Error(`${foreign.join(", ")}: use kescProcess`);
  const printed = { stdout: "", stderr: "" };
  const into = (name: keyof typeof printed): Writable =>
    new Writable({
      decodeStrings: false,
      write(text: string, _, done) {
        printed[name] += text;
        done();
      },
    });
  const streams = { stdin: Readable.from([input]), stdout: into("stdout"), stderr: into("stderr") };
  const code = await runKesc(args, { env: environment(variables), ...streams });
  return { code, ...printed };
}

const PROGRAMS: ReadonlySet<string> = new Set(["serve", "server", "gateway", "console"]);

/** Runs one command to its end, in a process of its own. `program` is the kesc of another build. */
export async function kescProcess(
  args: readonly string[],
  variables: Variables,
  { program = KESC }: { program?: string } = {},
): Promise<Ended> {
  const options = { env: environment(variables), timeout: END_MILLIS_MAX };
  try {
    const running = promisify(execFile)(process.execPath, [program, ...args], options);
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | null; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** Runs a command that must work, with --json; returns what it prints. */
export async function kescJson<Printed>(
  args: readonly string[],
  variables: Variables,
  run: (args: readonly string[], variables: Variables) => Promise<Ended> = kesc,
): Promise<Printed> {
  const { code, stdout, stderr } = await run([...args, "--json"], variables);
  if (code !== 0) throw new Error(`kesc ${args.join(" ")} ended with ${String(code)}: ${stderr}`);
  return JSON.parse(stdout) as Printed;
}

/** Where a running command listens: for `serve` the addresses of both programs. */
export interface Listening {
  readonly address: string;
  readonly grpcAddress?: string;
}

/** A command that runs until it is stopped. */
export class RunningKesc {
  readonly process: ChildProcess;
  /** Rejects when the command ends before it is ready. */
  readonly ready: Promise<Listening>;
  /** Resolves with the exit code, or with the name of the signal that ended the command. */
  readonly exited: Promise<number | string>;
  stdout = "";
  stderr = "";
  readonly #onOutput = new Set<() => void>();

  /** With `ownGroup`, `killGroup` can end the command together with its children. */
  constructor(
    args: readonly string[],
    variables: Variables,
    { ownGroup = false, program = KESC }: { ownGroup?: boolean; program?: string } = {},
  ) {
    const env = environment(variables);
    // Without execArgv the child would read source maps, as mocha does: a tenth of its start.
    this.process = fork(program, args, { env, silent: true, detached: ownGroup, execArgv: [] });
    const { stdout, stderr } = this.process;
    if (stdout === null || stderr === null) throw new Error("the child has no output");
    for (const [name, stream] of [
      ["stdout", stdout],
      ["stderr", stderr],
    ] as const) {
      stream.on("data", (chunk: Buffer) => {
        this[name] += chunk.toString();
        for (const listener of this.#onOutput) listener();
      });
    }
    // Not "close": a child from which we have disconnected never emits it.
    const exited = once(this.process, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    this.exited = Promise.all([exited, once(stdout, "close"), once(stderr, "close")]).then(
      ([[code, signal]]) => code ?? signal ?? "",
    );
    this.ready = Promise.race([
      once(this.process, "message").then(([message]) => message as Listening),
      this.exited.then((exit) => {
        throw new Error(`kesc ${args.join(" ")} ended with ${String(exit)}: ${this.stderr}`);
      }),
    ]);
    // Tests that wait for `exited` alone must not fail with an unhandled rejection.
    this.ready.catch(() => undefined);
  }

  /** Resolves as soon as the command has printed the words. */
  async said(words: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!this.stdout.includes(words) && !this.stderr.includes(words)) return;
        this.#onOutput.delete(listener);
        resolve();
      };
      this.#onOutput.add(listener);
      listener();
    });
  }

  /** Sends the signal; resolves as `exited` does. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | string> {
    this.process.kill(signal);
    return this.exited;
  }

  /** Kills the command and all its children with -9, as a power cut would. */
  async killGroup(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    process.kill(-this.pid, "SIGKILL");
    await this.exited;
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error("the command did not start");
    return this.process.pid;
  }
}

/**
 * Our environment without the variables that a developer's shell sets for kesc, with the master key
 * of the tests, and without a key of seals.
 */
export function environment(variables: Variables): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(KESC_|DATABASE_URL)/.test(name));
  const keyFiles = { KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE, KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE };
  return { ...Object.fromEntries(inherited), ...keyFiles, ...variables };
}
