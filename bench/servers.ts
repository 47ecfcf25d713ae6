import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

const READY_SECONDS_MAX = 20;
const STOP_SECONDS_MAX = 10;

/** A program of the benchmark that runs in a process of its own. */
export interface Program {
  name: string;
  /** Where it listens; empty for the load process. */
  address: string;
  process: ChildProcess;
}

export interface StartOptions {
  name: string;
  /** An executable, and the words that come before `args`. */
  entry: readonly [program: string, ...words: string[]];
  args?: string[];
  env?: Record<string, string>;
  /**
   * What it writes to stderr is kept here, in `<name>.stderr.log`. What it writes to stdout is
   * dropped.
   */
  logFolder: string;
}

/**
 * Starts a program and waits until it says `{ kind: "ready", address }` over its IPC channel.
 * Rejects, with the end of its stderr, if it exits first or takes longer than READY_SECONDS_MAX.
 */
export async function start(options: StartOptions): Promise<Program> {
  const { name, entry, args = [], env = {}, logFolder } = options;
  const logPath = join(logFolder, `${name}.stderr.log`);
  const log = openSync(logPath, "w");
  const [program, ...words] = entry;
  const child = spawn(program, [...words, ...args], {
    env: { ...ownEnvironment(), ...env },
    stdio: ["ignore", "ignore", log, "ipc"],
  });
  closeSync(log);
  try {
    return { name, address: await readyAddress(child), process: child };
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`${name}: ${String(error)}\n${readFileSync(logPath, "utf8").slice(-2000)}`, { cause: error });
  }
}

/** Asks the program to end, and makes it end when it does not within STOP_SECONDS_MAX. */
export function stop({ process: child }: Program): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const impatience = setTimeout(() => child.kill("SIGKILL"), STOP_SECONDS_MAX * 1000);
    child.once("exit", () => {
      clearTimeout(impatience);
      resolve();
    });
    child.kill("SIGTERM");
  });
}

/** What a program inherits: enough to run, and none of the caller's own KESC settings. */
export function ownEnvironment(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NODE_ENV: "production" };
}

function readyAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const impatience = setTimeout(() => {
      reject(new Error(`not ready after ${String(READY_SECONDS_MAX)} s`));
    }, READY_SECONDS_MAX * 1000);
    child.once("exit", (code, signal) => {
      clearTimeout(impatience);
      reject(new Error(`ended with ${String(code ?? signal)} before it was ready`));
    });
    child.on("message", (message) => {
      if (!isReady(message)) return;
      clearTimeout(impatience);
      resolve(message.address);
    });
  });
}

function isReady(message: unknown): message is { kind: "ready"; address: string } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";
}
