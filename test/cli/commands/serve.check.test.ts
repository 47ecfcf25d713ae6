import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { expect } from "chai";

import { pasted } from "../../support/documents/pasted.js";
import { eventually } from "../../support/eventually.js";
import { environment, KESC, kesc, kescJson, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";

const GONE_MILLIS_MAX = 10_000;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(pids: Iterable<number>): Promise<void> {
  const all = [...pids];
  await eventually(() => !all.some(isAlive), {
    millisMax: GONE_MILLIS_MAX,
    what: () => `of the processes ${all.join()} some are still there`,
  });
}

async function takenPort(): Promise<{ address: string; release: () => void }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${String(port)}`, release: () => server.close() };
}

describe("kesc server", () => {
  let place: Place;
  before(async () => {
    place = new Place();
    await withKeys(place.databaseUrl, makeTenants);
  });
  after(() => {
    place.remove();
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`logs that it is ready, warns of V8's default young generation, and exits with 0 on ${signal}`, async () => {
      const server = new RunningKesc(["server"], place.variables);
      expect((await server.ready).address).to.match(/^127\.0\.0\.1:[1-9]\d*$/);
      expect(await server.end(signal)).to.equal(0);
      const lines = server.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(lines).to.include.members(["ready", "stopping", "stopped"]);
      expect(server.stdout).to.contain("start the server with `kesc` or with node --max-semi-space-size=64");
      expect(server.stderr).to.equal("");
    });
  }

  it("exits with 0 when the parent process asks for it", async () => {
    const server = new RunningKesc(["server"], place.variables);
    await server.ready;
    server.process.send({ kind: "stop" });
    expect(await server.exited).to.equal(0);
  });

  it("exits with 0 when the parent process is gone", async () => {
    const server = new RunningKesc(["server"], place.variables);
    await server.ready;
    server.process.disconnect();
    expect(await server.exited).to.equal(0);
  });

  it("has a larger young generation when the shell starts it", async () => {
    const variables = environment(place.variables);
    const server = spawn(KESC, ["server"], { env: variables });
    let stdout = "";
    server.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    try {
      await eventually(() => stdout.includes('"ready"'), { millisMax: 20_000 });
    } finally {
      server.kill("SIGTERM");
      await once(server, "close");
    }
    expect(stdout).to.not.contain("young generation");
  });

  it("names the address that is in use", async () => {
    const { address, release } = await takenPort();
    const { code, stderr } = await kesc(["server"], { ...place.variables, KESC_GRPC_ADDRESS: address });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `The gRPC server cannot listen on ${address}: the address is in use already. ` +
        "Stop the program that listens there, or set KESC_GRPC_ADDRESS to another address.\n",
    );
    release();
  });
});

describe("kesc serve", () => {
  let place: Place;
  before(async () => {
    place = new Place();
    await withKeys(place.databaseUrl, makeTenants);
  });
  after(() => {
    place.remove();
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`runs both programs, the server with a larger young generation, and stops both on ${signal}`, async () => {
      const serve = new RunningKesc(["serve"], place.variables);
      const { address } = await serve.ready;
      expect((await fetch(`http://${address}/readyz`)).status).to.equal(200);
      const children = await serve.children();
      expect([...children.keys()].toSorted()).to.deep.equal(["gateway", "server"]);

      expect(await serve.end(signal)).to.equal(0);
      await gone(children.values());
      expect(serve.stdout).to.contain('"msg":"stopped"').and.not.contain("young generation");
      expect(serve.stderr).to.equal("");
    });
  }

  it("stops once and in order when all its processes get the signal, twice", async () => {
    const serve = new RunningKesc(["serve"], place.variables);
    await serve.ready;
    const children = await serve.children();
    for (const pid of [...children.values(), ...children.values()]) process.kill(pid, "SIGINT");
    serve.process.kill("SIGINT");
    serve.process.kill("SIGINT");
    expect(await serve.exited).to.equal(0);
  });

  for (const name of ["server", "gateway"]) {
    it(`exits with 1 when the ${name} is killed, and stops the other`, async () => {
      const serve = new RunningKesc(["serve"], place.variables);
      await serve.ready;
      const children = await serve.children();
      process.kill(children.get(name) ?? 0, "SIGKILL");
      expect(await serve.exited).to.equal(1);
      expect(serve.stderr).to.equal(`The ${name} exited unexpectedly (SIGKILL). All processes were stopped.\n`);
      await gone(children.values());
    });
  }

  it("leaves no process behind when it is killed itself", async () => {
    const serve = new RunningKesc(["serve"], place.variables);
    await serve.ready;
    const children = await serve.children();
    expect(await serve.end("SIGKILL")).to.equal("SIGKILL");
    await gone(children.values());
  });

  for (const variable of ["KESC_GRPC_ADDRESS", "KESC_HTTP_ADDRESS"]) {
    it(`exits with 1 when the address of ${variable} is in use`, async () => {
      const { address, release } = await takenPort();
      const { code, stderr } = await kesc(["serve"], { ...place.variables, [variable]: address });
      expect(code).to.equal(1);
      expect(stderr).to.contain(address).and.contain("in use already");
      release();
    });
  }
});

// The demo has operators: a command on the database says that it names none of them.
const ALONE = ["--on-database", "--note", "for the demo"];

describe("kesc serve --demo", () => {
  let place: Place;
  before(() => {
    place = new Place();
  });
  after(() => {
    place.remove();
  });

  /** Pastes what stands below the next step. */
  async function pasteNext(words: string, given: Variables): Promise<Readonly<Record<string, unknown>>> {
    const [, lines = ""] = /^Next, [^]*?\n\n([^]*)/m.exec(words) ?? [];
    const [request = ""] = await pasted([lines], { http: "", grpc: "" }, environment(given));
    return JSON.parse(request) as Readonly<Record<string, unknown>>;
  }

  it("makes a database and a key, and prints five results and one step that works as it is", async () => {
    const serve = new RunningKesc(["serve", "--demo"], place.variables);
    const { address, grpcAddress = "" } = await serve.ready;
    await serve.said("first-mint");
    expect(serve.stdout).to.match(
      /^Migrating the database…\nCreated the seal key file \S+\. Keep a copy apart from the backups\.\nStarting the server, the gateway and the console…\n/,
    );
    const results = [...serve.stdout.matchAll(/^ {2}(\w.*?) {2,}(\S+)/gm)].map(([, name, value]) => [name, value]);
    expect(results.map(([name]) => name)).to.deep.equal([
      ...["REST", "gRPC", "Console, Amina", "Console, Brian", "Organization"],
    ]);
    expect(results.slice(0, 2).map(([, value]) => value)).to.deep.equal([`http://${address}`, grpcAddress]);
    expect(await pasteNext(serve.stdout, {})).to.include({ type: "mint", amount: 1000, status: "completed" });
    expect(await serve.end()).to.equal(0);
    // No line of a log has scrolled the links away.
    expect(serve.stdout + serve.stderr).to.not.contain('"level":');
    expect((await kesc(["verify"], place.variables)).code).to.equal(0);
  });

  it("ends with 2 on a database with live organizations, and starts nothing", async () => {
    const live = new Place();
    await withKeys(live.databaseUrl, makeTenants);
    const { code, stdout, stderr } = await kesc(["serve", "--demo"], live.variables);
    expect([code, stdout]).to.deep.equal([2, ""]);
    expect(stderr).to.match(/^--demo: this database has the organization org_.*Nothing was changed\./);
    live.remove();
  });

  it("keeps the database and the key of the first time, and says how to make another", async () => {
    const serve = new RunningKesc(["serve", "--demo"], { ...place.variables, KESC_LOG_LEVEL: "info" });
    await serve.said('"ready"');
    const words = serve.stdout.indexOf("/accounts; echo");
    expect(serve.stdout.indexOf('{"level":'), "the first log line").to.be.greaterThan(words);
    const [organization] = await kescJson<{ id: string }[]>(["org", "list"], place.variables);
    expect(serve.stdout).to.not.contain("export KESC_API_KEY");
    expect(serve.stdout).to.contain(
      `kesc key create --org ${organization?.id ?? ""} --name NAME --all-scopes --expires-in 90d --on-database`,
    );

    const key = ["key", "create", "--org", "demo", "--name", "another", "--all-scopes", "--never-expires", ...ALONE];
    const { secret } = await kescJson<{ secret: string }>(key, place.variables);
    const { accounts } = await pasteNext(serve.stdout.replace(/^\{.*$/gm, ""), { KESC_API_KEY: secret });
    expect(accounts).to.have.length(10);
    expect(await serve.end()).to.equal(0);
  });
});
