import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { atTheEnd } from "./at-the-end.js";
import { type GrpcCaller, grpcCaller } from "./grpc-caller.js";
import { sharedPostgres } from "./postgres.js";
import { freePort } from "./postgres-node.js";
import { secretsIn } from "./secrets.js";
import { makeTenants, type Tenant } from "./tenants.js";

const KESC = resolve("dist/src/cli/kesc.js");
const START_MILLIS_MAX = 20_000;

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body's own text: amounts are looked at there, before anything has parsed them. */
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export interface RestCall {
  /** Sent as it is: text for what JSON.stringify can't write, such as 1000.00. */
  readonly body?: string | object;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The service as it runs in production: `kesc serve`, two processes, real sockets, a database of
 * its own.
 */
export interface Service {
  readonly a: Tenant;
  readonly b: Tenant;
  readonly environment: NodeJS.ProcessEnv;
  /** What the programs have printed so far. */
  readonly printed: () => string;
  rest(method: string, path: string, call?: RestCall): Promise<RestAnswer>;
  readonly grpc: GrpcCaller;
  /** Of `kesc serve`, the parent of the two programs. */
  readonly pid: () => number;
  /** Ends all processes without a word, as a power cut would. */
  kill(): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  start(): Promise<void>;
  /** Runs another command on the same database; answers what it printed. */
  kesc(...words: string[]): Promise<{ status: number | null; output: string }>;
  /** Stops what runs and removes the data. */
  dispose(): Promise<void>;
}

const shared = new Map<string, Promise<Service>>();

/** The service that all suites share which neither stop nor harm it. */
export function sharedService(engine: "sqlite" | "postgres"): Promise<Service> {
  let service = shared.get(engine);
  if (service === undefined) {
    service = startService(engine);
    shared.set(engine, service);
    atTheEnd(async () => {
      await (await service)?.dispose();
    });
  }
  return service;
}

/** Makes a database, or takes the one that `given` names; `given` adds to the environment. */
export async function startService(
  engine: "sqlite" | "postgres",
  given: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-e2e-"));
  const [grpcPort, httpPort] = [await freePort(), await freePort()];
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    DATABASE_URL: given["DATABASE_URL"] ?? (await databaseUrl(engine, folder)),
    KESC_GRPC_ADDRESS: `127.0.0.1:${String(grpcPort)}`,
    KESC_HTTP_ADDRESS: `127.0.0.1:${String(httpPort)}`,
    ...given,
  };
  const base = `http://127.0.0.1:${String(httpPort)}`;

  const kesc: Service["kesc"] = (...words) => runKesc(folder, environment, words);
  const [a, b] = await makeTenants(environment["DATABASE_URL"]);

  let running: ChildProcess | undefined;
  let grpc: GrpcCaller | undefined;
  let printed = "";
  const start = async (): Promise<void> => {
    // A process group of its own, so that all of it can be killed at once.
    running = spawn(process.execPath, [KESC, "serve"], { cwd: folder, env: environment, detached: true });
    running.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    running.stderr?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await ready(base, running, () => printed);
    // A client that has seen the server go waits a while before it tries again: tests start with a
    // new one.
    grpc?.close();
    grpc = grpcCaller(`127.0.0.1:${String(grpcPort)}`, a.key);
  };
  await start();

  const end = async (signal: NodeJS.Signals, whole: boolean): Promise<number | null> => {
    if (running?.pid === undefined || running.exitCode !== null) return running?.exitCode ?? null;
    const exited = once(running, "exit") as Promise<[number | null]>;
    process.kill(whole ? -running.pid : running.pid, signal);
    const [status] = await exited;
    running = undefined;
    return status;
  };
  return {
    a,
    b,
    environment,
    printed: () => printed,
    rest: (method, path, call) => rest(base, a.key, method, path, call),
    grpc: {
      call: (...call) => {
        if (grpc === undefined) throw new Error("the service has not been started");
        return grpc.call(...call);
      },
      exchange: (...exchange) => {
        if (grpc === undefined) throw new Error("the service has not been started");
        return grpc.exchange(...exchange);
      },
      close: () => grpc?.close(),
    },
    pid: () => running?.pid ?? 0,
    kill: async () => {
      await end("SIGKILL", true);
    },
    stop: () => end("SIGTERM", false),
    start,
    kesc,
    async dispose() {
      grpc?.close();
      await end("SIGKILL", true);
      rmSync(folder, { recursive: true, force: true });
      // Whatever the test was about: its callers have sent keys, phone numbers and e-mail addresses
      // all along.
      const secrets = secretsIn(printed);
      if (secrets.length > 0) throw new Error(`the programs have printed ${secrets.join(", ")}`);
    },
  };
}

async function databaseUrl(engine: "sqlite" | "postgres", folder: string): Promise<string> {
  return engine === "sqlite" ? `sqlite:${folder}/kesc.db` : (await sharedPostgres()).createDatabase();
}

async function rest(
  base: string,
  ownKey: string,
  method: string,
  path: string,
  call: RestCall = {},
): Promise<RestAnswer> {
  const { body, key = ownKey, headers } = call;
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(key === "" ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, text, json };
}

async function ready(base: string, serve: ChildProcess, printed: () => string): Promise<void> {
  const deadline = Date.now() + START_MILLIS_MAX;
  for (;;) {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    if (serve.exitCode !== null || Date.now() > deadline) throw new Error(`kesc serve did not start: ${printed()}`);
    await sleep(25);
  }
}

async function runKesc(
  folder: string,
  environment: NodeJS.ProcessEnv,
  words: readonly string[],
): Promise<{ status: number | null; output: string }> {
  const command = spawn(process.execPath, [KESC, ...words], { cwd: folder, env: environment });
  let output = "";
  command.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  command.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(command, "close")) as [number | null];
  return { status, output };
}
