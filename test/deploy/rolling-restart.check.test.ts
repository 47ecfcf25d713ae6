import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, credentials, Metadata, type ServiceError, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { KescClient } from "../../client/kesc-client.js";
import { AccountServiceService } from "../../src/gen/kesc/v1/account_service.js";
import { TransactionServiceService } from "../../src/gen/kesc/v1/transaction_service.js";
import { getAdmin } from "../support/callers/served-metrics.js";
import { eventually } from "../support/eventually.js";
import { startHaproxy } from "../support/haproxy.js";
import { sharedPostgres } from "../support/postgres.js";
import { freePort } from "../support/postgres-node.js";
import { kesc, RunningKesc, type Variables } from "../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../support/service/tenants.js";
import { TLS_CA_FILE } from "../support/tls/files.js";

const PAUSE_MILLIS = 20;
const REPEATS_MAX = 30;
// Two checks of HAProxy (`inter`), so that it has seen a program before the next one stops.
const SEEN_MILLIS = 1_000;

/** The ports of all programs. Each keeps its port when it is started again. */
const PORTS = ["rest", "grpc", "gateways", "server1", "server2", "admin1", "admin2", "gateway1", "gateway2"] as const;
type Ports = Readonly<Record<(typeof PORTS)[number], number>>;

async function freePorts(): Promise<Ports> {
  const ports = new Set<number>();
  while (ports.size < PORTS.length) ports.add(await freePort());
  return Object.fromEntries([...ports].map((port, index) => [PORTS[index], port])) as Ports;
}

/**
 * What callers of one kind saw. A raw failure is one try. A call has failed when no repeat helped.
 */
class Tally {
  done = 0;
  /** How often a try failed in each way. */
  readonly rawFailures = new Map<string, number>();
  readonly failed: string[] = [];
}

/** Two servers, two gateways and HAProxy with the configuration that we ship. */
class Deployment {
  readonly caller: Tenant;
  readonly ports: Ports;
  readonly #variables: Variables;
  readonly #programs = new Map<string, RunningKesc>();
  readonly #folder = mkdtempSync(join(tmpdir(), "kesc-deploy-"));
  #haproxy: ChildProcess | undefined;

  private constructor(caller: Tenant, ports: Ports, databaseUrl: string) {
    this.caller = caller;
    this.ports = ports;
    this.#variables = {
      DATABASE_URL: databaseUrl,
      KESC_GRPC_LAME_DUCK_SECONDS: "2",
      KESC_GATEWAY_TARGET: at(ports.gateways),
    };
  }

  /** `onMade` hears of it before anything runs. */
  static async start(onMade: (deployment: Deployment) => void): Promise<Deployment> {
    const databaseUrl = await (await sharedPostgres()).createDatabase();
    const [caller] = await withKeys(databaseUrl, makeTenants);
    const deployment = new Deployment(caller, await freePorts(), databaseUrl);
    onMade(deployment);
    await deployment.#startHaproxy();
    for (const name of ["server1", "server2", "gateway1", "gateway2"] as const) await deployment.startProgram(name);
    return deployment;
  }

  async #startHaproxy(): Promise<void> {
    const { ports } = this;
    const { child, log } = startHaproxy(this.#folder, {
      REST_LISTEN: at(ports.rest),
      GRPC_LISTEN: at(ports.grpc),
      GATEWAYS_LISTEN: at(ports.gateways),
      GATEWAY1: at(ports.gateway1),
      GATEWAY2: at(ports.gateway2),
      SERVER1: at(ports.server1),
      SERVER1_ADMIN_PORT: String(ports.admin1),
      SERVER2: at(ports.server2),
      SERVER2_ADMIN_PORT: String(ports.admin2),
    });
    this.#haproxy = child;
    await eventually(() => accepts(ports.grpc), { what: () => `HAProxy does not listen: ${log()}` });
  }

  /** Starts it, and waits until HAProxy can have seen that it serves. */
  async startProgram(name: "server1" | "server2" | "gateway1" | "gateway2"): Promise<void> {
    const port = at(this.ports[name]);
    const admin = name === "server1" ? this.ports.admin1 : this.ports.admin2;
    const isServer = name.startsWith("server");
    const variables = isServer
      ? { ...this.#variables, KESC_GRPC_ADDRESS: port, KESC_ADMIN_ADDRESS: at(admin) }
      : { ...this.#variables, KESC_HTTP_ADDRESS: port };
    const program = new RunningKesc([isServer ? "server" : "gateway"], variables, { ownGroup: true });
    this.#programs.set(name, program);
    await program.ready;
    if (isServer) await eventually(async () => (await getAdmin(at(admin), "/readyz")).status === 200);
    await sleep(SEEN_MILLIS);
  }

  /** Stops a program as a supervisor does, and starts it again. Resolves with its exit code. */
  async restart(name: "server1" | "server2" | "gateway1" | "gateway2"): Promise<number | string | undefined> {
    const exit = await this.#programs.get(name)?.end("SIGTERM");
    await this.startProgram(name);
    return exit;
  }

  verify(): ReturnType<typeof kesc> {
    return kesc(["verify"], this.#variables);
  }

  async dispose(): Promise<void> {
    for (const program of this.#programs.values()) await program.killGroup();
    if (this.#haproxy !== undefined && this.#haproxy.exitCode === null) {
      this.#haproxy.kill("SIGKILL");
      await once(this.#haproxy, "exit");
    }
    rmSync(this.#folder, { recursive: true });
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function at(port: number): string {
  return `127.0.0.1:${String(port)}`;
}

function listOf({ rawFailures }: Tally): string {
  const kinds = [...rawFailures].map(([problem, count]) => `${String(count)} × ${problem}`);
  return kinds.length === 0 ? "none" : kinds.join(", ");
}

interface Mint {
  readonly account_id: string;
  readonly amount: string;
  readonly reference: string;
}

/** Repeats a try with the same reference, as docs/api.md says, and counts. */
async function repeat(tally: Tally, tryOnce: () => Promise<string | undefined>): Promise<void> {
  let problem: string | undefined;
  for (let tries = 0; tries < REPEATS_MAX; tries++) {
    problem = await tryOnce();
    if (problem === undefined) {
      tally.done += 1;
      return;
    }
    tally.rawFailures.set(problem, (tally.rawFailures.get(problem) ?? 0) + 1);
    await sleep(100 + 100 * Math.random());
  }
  tally.failed.push(problem ?? "");
}

describe("a rolling restart behind HAProxy, if Debian's package haproxy is here", () => {
  let deployment: Deployment;
  let client: KescClient;
  let raw: Client;
  const takeDown: (() => unknown)[] = [];
  const agent = new Agent({ keepAlive: true, ca: readFileSync(TLS_CA_FILE) });

  before(async function () {
    // Debian's package haproxy. Without it nothing here can run.
    if (spawnSync("haproxy", ["-v"]).error !== undefined) this.skip();
    deployment = await Deployment.start((disposable) => takeDown.push(() => disposable.dispose()));
    const tls = credentials.createSsl(readFileSync(TLS_CA_FILE));
    // TLS names a host, and no address.
    const address = `localhost:${String(deployment.ports.grpc)}`;
    client = new KescClient({ address, apiKey: deployment.caller.key, credentials: tls });
    raw = new Client(address, tls, { "grpc.use_local_subchannel_pool": 1 });
    takeDown.unshift(
      () => {
        client.close();
      },
      () => {
        raw.close();
      },
    );
  });
  after(async () => {
    agent.destroy();
    for (const end of takeDown) await end();
  });

  /** One request over REST. Resolves with what went wrong. */
  function mintOverRest(mint: Mint): Promise<string | undefined> {
    return new Promise((resolve) => {
      const headers = { "x-api-key": deployment.caller.key, "content-type": "application/json" };
      const url = `https://localhost:${String(deployment.ports.rest)}/transactions/mint`;
      const req = request(url, { method: "POST", agent, headers }, (res) => {
        res.resume();
        res.once("error", (error) => {
          resolve(error.message);
        });
        const { statusCode = 0 } = res;
        res.once("end", () => {
          resolve(statusCode === 200 || statusCode === 201 ? undefined : String(statusCode));
        });
      });
      req.once("error", (error) => {
        resolve(error.message);
      });
      req.end(JSON.stringify(mint));
    });
  }

  /** One call over gRPC without any repeat. Resolves with what went wrong. */
  function mintOnce(mint: Mint): Promise<string | undefined> {
    const { path, requestSerialize, requestDeserialize, responseDeserialize } = TransactionServiceService.mint;
    const metadata = new Metadata();
    metadata.set("x-api-key", deployment.caller.key);
    const message = { ...requestDeserialize(Buffer.alloc(0)), ...mint };
    const options = { deadline: Date.now() + 10_000 };
    return new Promise((resolve) => {
      raw.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message,
        metadata,
        options,
        (error: ServiceError | null) => {
          resolve(error?.message);
        },
      );
    });
  }

  it("fails no call that is repeated as documented, over gRPC and REST, and loses and doubles nothing", async function () {
    const user = { user_id: "rolling", phone_number: "0712345678" };
    const { account } = await client.accounts.createAccount(user);
    const account_id = account.id;
    const tallies = { client: new Tally(), grpc: new Tally(), rest: new Tally() };
    let isOver = false;
    const work = async (name: string, mint: (mint: Mint) => Promise<void>): Promise<void> => {
      for (let count = 0; !isOver; count++) {
        await mint({ account_id, amount: "1.00", reference: `${name}-${String(count)}` });
        await sleep(PAUSE_MILLIS);
      }
    };
    const byClient = async (mint: Mint): Promise<void> => {
      await client.transactions.mint(mint).then(
        () => (tallies.client.done += 1),
        (error: unknown) => tallies.client.failed.push(String(error)),
      );
    };
    const workers = [1, 2, 3].flatMap((number) => [
      work(`client${String(number)}`, byClient),
      work(`grpc${String(number)}`, (mint) => repeat(tallies.grpc, () => mintOnce(mint))),
      work(`rest${String(number)}`, (mint) => repeat(tallies.rest, () => mintOverRest(mint))),
    ]);
    const exits: unknown[] = [];
    for (const name of ["server1", "server2", "gateway1", "gateway2"] as const) {
      exits.push(await deployment.restart(name));
    }
    isOver = true;
    await Promise.all(workers);

    expect(exits, "the exit codes").to.deep.equal([0, 0, 0, 0]);
    for (const [name, { done, failed }] of Object.entries(tallies)) {
      expect(failed, name).to.deep.equal([]);
      expect(done, name).to.be.greaterThan(0);
    }
    const { client: byKescClient, grpc, rest } = tallies;
    const minted = byKescClient.done + grpc.done + rest.done;
    const { account: afterwards } = await client.accounts.getAccount({ account_id });
    expect(afterwards.available_balance).to.equal(`${String(minted)}.00`);
    const { code, stdout } = await deployment.verify();
    expect(code, stdout).to.equal(0);
    // The reporter shows the figures, which differ from run to run.
    const figures = `${String(minted)} mints; raw failures: gRPC ${listOf(grpc)}, REST ${listOf(rest)}`;
    if (this.test !== undefined) this.test.title += ` (${figures})`;
  });

  // The last one: HAProxy refuses everything of this address afterwards.
  it("refuses an address over gRPC that has sent more than a hundred wrong keys in a minute", async () => {
    const wrong = new Metadata();
    wrong.set("x-api-key", "kesc_wrong");
    const codes: Status[] = [];
    for (let sent = 0; sent < 102; sent++) {
      codes.push(
        await new Promise((resolve) => {
          const { path, requestSerialize, responseDeserialize } = AccountServiceService.getAccount;
          const request = { account_id: "a", as_of_time: undefined };
          raw.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, wrong, (error) => {
            resolve(error?.code ?? Status.OK);
          });
        }),
      );
    }
    // A client of gRPC reads HAProxy's 429 as UNAVAILABLE.
    const counted = [Status.UNAUTHENTICATED, Status.UNAVAILABLE].map(
      (code) => codes.filter((other) => other === code).length,
    );
    expect(counted).to.deep.equal([101, 1]);
  });
});
