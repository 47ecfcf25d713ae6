import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";

import { expect } from "chai";

import { startProgram, withProgramFile } from "../../runtime/program.js";
import { pasted } from "../../support/documents/pasted.js";
import { eventually } from "../../support/eventually.js";
import { environment, KESC, kesc, kescJson, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";

async function childrenOf(pid: number): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "ppid=,args="]);
  return stdout.split("\n").filter((line) => Number.parseInt(line) === pid);
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
    it(`runs server and gateway in one process, and stops once on ${signal}, however often it comes`, async () => {
      const serve = new RunningKesc(["serve"], place.variables);
      const { address } = await serve.ready;
      expect((await fetch(`http://${address}/readyz`)).status).to.equal(200);
      expect(await childrenOf(serve.pid)).to.deep.equal([]);

      serve.process.kill(signal);
      expect(await serve.end(signal)).to.equal(0);
      expect(serve.stdout.match(/"msg":"stopped"/g)).to.have.length(2);
      expect(serve.stderr).to.equal("");
    });
  }

  it("fails when the gateway ends by itself, and stops the server first", async () => {
    const imports = {
      "../src/cli/run-server.js": ["runServer"],
      "../src/startup/environment.js": ["configFromEnvironment"],
    };
    const body = `
      for (const name of Object.keys(process.env)) if (name.startsWith("KESC_")) delete process.env[name];
      Object.assign(process.env, ${JSON.stringify(place.variables)});
      const front = { ended: Promise.resolve("The gateway is gone."), stop: async () => false };
      await runServer(configFromEnvironment(), new Promise(() => undefined), () => front).catch(({ message }) => {
        console.log(message);
      });`;
    const { exit, stdout } = await withProgramFile(imports, body, (file) => startProgram(file).ended);
    expect(exit).to.equal(0);
    expect(stdout).to.match(/"msg":"stopped"\}\nThe gateway is gone\.\n$/);
  });

  for (const variable of ["KESC_GRPC_ADDRESS", "KESC_HTTP_ADDRESS", "KESC_HTTP_ADMIN_ADDRESS"]) {
    it(`exits with 1 when the address of ${variable} is in use`, async () => {
      const { address, release } = await takenPort();
      const { code, stderr } = await kesc(["serve"], { ...place.variables, [variable]: address });
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^The gRPC server cannot listen on .* in use already|^the gateway cannot start: .*(in use already|EADDRINUSE)/,
      );
      release();
    });
  }

  it("lets the server's thread go before that of the gateway", async function () {
    if (process.platform !== "linux") this.skip();
    const serve = new RunningKesc(["serve"], place.variables);
    await serve.ready;
    const { pid = 0 } = serve.process;
    const own = nicenessOf(pid, pid);
    const others = readdirSync(`/proc/${String(pid)}/task`).map((id) => nicenessOf(pid, Number(id)));
    expect(others.filter((niceness) => niceness !== own)).to.deep.equal([own + 5]);
    expect(await serve.end()).to.equal(0);
  });

  it("exits with 2 when the certificate of the gateway alone cannot be read", async () => {
    const { code, stderr } = await kesc(["serve"], {
      ...place.variables,
      KESC_GATEWAY_TARGET: "127.0.0.1:1",
      KESC_GATEWAY_CA_FILE: "none.pem",
    });
    expect([code, stderr]).to.deep.equal([
      2,
      "the gateway cannot start: none.pem (KESC_GATEWAY_CA_FILE) cannot be read: ENOENT.\n",
    ]);
  });
});

/** Reads the field of a thread that proc_pid_stat(5) calls nice. */
function nicenessOf(pid: number, thread: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/task/${String(thread)}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

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
    // As the shell starts it.
    const variables = {
      ...place.variables,
      NODE_OPTIONS: "--max-semi-space-size=64",
      KESC_OPERATOR_ADDRESS: "127.0.0.1:0",
    };
    const serve = new RunningKesc(["serve", "--demo"], variables);
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
    await serve.said("/accounts; echo");
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
