import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const READY_SECONDS_MAX = 20;
const STOP_SECONDS_MAX = 10;
const ASKED_EVERY_MILLIS = 50;

/** A program of the benchmark that runs in a process of its own. */
export interface Program {
  name: string;
  /** The address that it listens on; empty for the load process. */
  address: string;
  process: ChildProcess;
}

/** An executable and its first arguments. */
export type Entry = readonly [program: string, ...args: string[]];

export interface StartOptions {
  name: string;
  entry: Entry;
  args?: string[];
  env?: Record<string, string>;
  /** `<name>.stderr.log` in this folder gets its stderr. Its stdout is dropped. */
  logFolder: string;
  /** Of a program of others. Absent: it tells its address by itself. */
  listens?: { address: string; isServing: () => Promise<boolean> };
}

/**
 * Starts a program and waits for `{ kind: "ready", address }` on its IPC channel, or until one of
 * others serves. Rejects, with the end of its stderr, if it exits first or takes longer than
 * READY_SECONDS_MAX.
 */
export async function start({ name, entry, args = [], env = {}, logFolder, listens }: StartOptions): Promise<Program> {
  const logPath = join(logFolder, `${name}.stderr.log`);
  const log = openSync(logPath, "w");
  const [program, ...words] = entry;
  const child = spawn(program, [...words, ...args], {
    env: { ...ownEnvironment(), ...env },
    stdio: ["ignore", "ignore", log, "ipc"],
  });
  closeSync(log);
  try {
    const address = listens === undefined ? await readyAddress(child) : await servedAddress(child, listens);
    return { name, address, process: child };
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`${name}: ${String(error)}\n${readFileSync(logPath, "utf8").slice(-2000)}`, { cause: error });
  }
}

/** Sends SIGTERM, and SIGKILL if the program has not ended after STOP_SECONDS_MAX. */
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

/** Returns a port that no program has. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The environment of a program: the minimum, without the KESC settings of the caller. */
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

async function servedAddress(
  child: ChildProcess,
  { address, isServing }: NonNullable<StartOptions["listens"]>,
): Promise<string> {
  const until = performance.now() + READY_SECONDS_MAX * 1000;
  while (!(await isServing())) {
    if (child.exitCode !== null) throw new Error(`ended with ${String(child.exitCode)} before it served`);
    if (performance.now() > until) throw new Error(`not ready after ${String(READY_SECONDS_MAX)} s`);
    await sleep(ASKED_EVERY_MILLIS);
  }
  return address;
}

function isReady(message: unknown): message is { kind: "ready"; address: string } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";
}
