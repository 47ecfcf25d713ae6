import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { atTheEnd } from "../at-the-end.js";
import { GrpcCaller } from "../callers/grpc-caller.js";
import { type RestCall, RestCaller, type RestReply } from "../callers/rest-caller.js";
import type { ENGINES } from "../databases.js";
import { expectDocumented } from "../openapi/expect-documented.js";
import { sharedPostgres } from "../postgres.js";
import { freePort } from "../postgres-node.js";
import { type Ended, kesc, RunningKesc, type Variables } from "./kesc.js";
import { secretsIn } from "./secrets.js";
import { makeTenants, type Tenant, withKeys } from "./tenants.js";

type Engine = (typeof ENGINES)[number];

const CALL_MILLIS_MAX = 10_000;

interface Place {
  readonly databaseUrl: string;
  readonly folder: string;
  readonly given: Variables;
  readonly ports: readonly [grpc: number, http: number];
}

/**
 * The service as it runs in production: `kesc serve`, real sockets, a database of
 * its own.
 */
export class Service {
  readonly a: Tenant;
  readonly b: Tenant;
  readonly databaseUrl: string;
  readonly #folder: string;
  readonly #given: Variables;
  /** Every start has the same. Meanwhile the kernel gives their ports to no other program. */
  readonly #addresses: { readonly grpc: string; readonly http: string };
  #running: RunningKesc | undefined;
  /** The output of earlier runs. */
  #printed = "";
  #grpc: GrpcCaller | undefined;
  #rest: RestCaller | undefined;

  private constructor([a, b]: readonly [Tenant, Tenant], { databaseUrl, folder, given, ports: [grpc, http] }: Place) {
    this.a = a;
    this.b = b;
    this.databaseUrl = databaseUrl;
    this.#folder = folder;
    this.#given = given;
    this.#addresses = { grpc: `127.0.0.1:${String(grpc)}`, http: `127.0.0.1:${String(http)}` };
  }

  /** Makes a database, or takes the one that `given` names; `given` adds to the environment. */
  static async start(engine: Engine, given: Variables = {}): Promise<Service> {
    const folder = mkdtempSync(join(tmpdir(), "kesc-e2e-"));
    const databaseUrl = given["DATABASE_URL"] ?? (await newDatabaseUrl(engine, folder));
    const tenants = await withKeys(databaseUrl, makeTenants);
    const ports = [await freePort(), await freePort()] as const;
    const service = new Service(tenants, { databaseUrl, folder, given, ports });
    await service.start();
    return service;
  }

  get grpcAddress(): string {
    return this.#addresses.grpc;
  }

  get httpAddress(): string {
    return this.#addresses.http;
  }

  /** The environment of every command that works with this service. */
  get variables(): Variables {
    return {
      ...this.#given,
      DATABASE_URL: this.databaseUrl,
      KESC_GRPC_ADDRESS: this.grpcAddress,
      KESC_HTTP_ADDRESS: this.httpAddress,
    };
  }

  /** Calls with the key of organization A, unless the call says otherwise. */
  get grpc(): GrpcCaller {
    if (this.#grpc === undefined) throw new Error("the service does not run");
    return this.#grpc;
  }

  /** Calls with the key of organization A, unless the call says otherwise. */
  rest(method: string, path: string, call?: RestCall): Promise<RestReply> {
    if (this.#rest === undefined) throw new Error("the service does not run");
    return this.#rest.send(method, path, call);
  }

  /** Everything that the programs have printed so far. */
  printed(): string {
    return this.#printed + (this.#running?.stdout ?? "") + (this.#running?.stderr ?? "");
  }

  /** The process id of `kesc serve`. */
  get pid(): number {
    if (this.#running === undefined) throw new Error("the service does not run");
    return this.#running.pid;
  }

  async start(): Promise<void> {
    this.#closeCallers();
    this.#printed = this.printed();
    this.#running = new RunningKesc(["serve"], this.variables, { ownGroup: true });
    await this.#running.ready;
    // A client that has lost its server waits before it connects again, so each start has new ones.
    this.#grpc = new GrpcCaller(this.grpcAddress, { key: this.a.key, deadlineMillis: CALL_MILLIS_MAX });
    this.#rest = new RestCaller(this.httpAddress, { key: this.a.key, check: expectDocumented });
  }

  /** Sends SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | string | undefined> {
    return this.#running?.end("SIGTERM");
  }

  /** Kills all processes at once, as a power cut would. */
  async kill(): Promise<void> {
    await this.#running?.killGroup();
  }

  /** Runs another command on the same database. */
  kesc(...args: string[]): Promise<Ended> {
    return kesc(args, this.variables);
  }

  /** Stops everything and removes the data. Rejects when the programs have printed a secret. */
  async dispose(): Promise<void> {
    this.#closeCallers();
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
    // All callers send keys, phone numbers and e-mail addresses, so every suite checks this.
    const secrets = secretsIn(this.printed());
    if (secrets.length > 0) throw new Error(`the programs have printed ${secrets.join(", ")}`);
  }

  #closeCallers(): void {
    this.#grpc?.close();
    this.#rest?.close();
  }
}

async function newDatabaseUrl(engine: Engine, folder: string): Promise<string> {
  return engine === "sqlite" ? `sqlite:${folder}/kesc.db` : (await sharedPostgres()).createMigratedDatabase();
}

const shared = new Map<Engine, Promise<Service>>();

/** The service of all suites that neither stop nor harm it. */
export function sharedService(engine: Engine): Promise<Service> {
  let service = shared.get(engine);
  if (service === undefined) {
    service = Service.start(engine);
    shared.set(engine, service);
    atTheEnd(async () => {
      await (await service)?.dispose();
    });
  }
  return service;
}
