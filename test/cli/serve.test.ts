import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { expect } from "chai";

import { environment, kesc, kescJson, Place, RunningKesc } from "../support/service/kesc.js";

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
  const deadline = Date.now() + GONE_MILLIS_MAX;
  for (const pid of pids) {
    while (isAlive(pid)) {
      if (Date.now() > deadline) throw new Error(`process ${String(pid)} is still there`);
      await sleep(20);
    }
  }
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
    await kesc(["migrate"], place.variables);
  });
  after(() => {
    place.remove();
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`says that it is ready, and ends with 0 on ${signal}`, async () => {
      const server = new RunningKesc(["server"], place.variables);
      expect((await server.ready).address).to.match(/^127\.0\.0\.1:[1-9]\d*$/);
      expect(await server.end(signal)).to.equal(0);
      const lines = server.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(lines).to.include.members(["ready", "stopping", "stopped"]);
      expect(server.stderr).to.equal("");
    });
  }

  it("ends with 0 when the process that started it asks for it", async () => {
    const server = new RunningKesc(["server"], place.variables);
    await server.ready;
    server.process.send({ kind: "stop" });
    expect(await server.exited).to.equal(0);
  });

  it("ends with 0 when the process that started it is gone", async () => {
    const server = new RunningKesc(["server"], place.variables);
    await server.ready;
    server.process.disconnect();
    expect(await server.exited).to.equal(0);
  });

  it("says that its address is taken", async () => {
    const { address, release } = await takenPort();
    const { code, stderr } = await kesc(["server"], { ...place.variables, KESC_GRPC_ADDRESS: address });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `gRPC cannot listen on ${address}: the address is in use already. ` +
        "Stop the process that uses it, or set KESC_GRPC_ADDRESS to another address.\n",
    );
    release();
  });
});

describe("kesc serve", () => {
  let place: Place;
  before(async () => {
    place = new Place();
    await kesc(["migrate"], place.variables);
  });
  after(() => {
    place.remove();
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`runs both programs, and stops both on ${signal}`, async () => {
      const serve = new RunningKesc(["serve"], place.variables);
      const { address } = await serve.ready;
      expect((await fetch(`http://${address}/readyz`)).status).to.equal(200);
      const children = await serve.children();
      expect([...children.keys()].toSorted()).to.deep.equal(["gateway", "server"]);

      expect(await serve.end(signal)).to.equal(0);
      await gone(children.values());
      expect(serve.stderr).to.equal("");
    });
  }

  it("stops once and in order when the whole group of processes gets the signal, twice", async () => {
    const serve = new RunningKesc(["serve"], place.variables);
    await serve.ready;
    const children = await serve.children();
    for (const pid of [...children.values(), ...children.values()]) process.kill(pid, "SIGINT");
    serve.process.kill("SIGINT");
    serve.process.kill("SIGINT");
    expect(await serve.exited).to.equal(0);
  });

  for (const name of ["server", "gateway"]) {
    it(`ends with 1 when the ${name} is killed, and takes the other with it`, async () => {
      const serve = new RunningKesc(["serve"], place.variables);
      await serve.ready;
      const children = await serve.children();
      process.kill(children.get(name) ?? 0, "SIGKILL");
      expect(await serve.exited).to.equal(1);
      expect(serve.stderr).to.equal(`The ${name} exited unexpectedly (SIGKILL). All processes were stopped.\n`);
      await gone(children.values());
    });
  }

  it("leaves nothing behind when it is killed itself", async () => {
    const serve = new RunningKesc(["serve"], place.variables);
    await serve.ready;
    const children = await serve.children();
    expect(await serve.end("SIGKILL")).to.equal("SIGKILL");
    await gone(children.values());
  });

  for (const variable of ["KESC_GRPC_ADDRESS", "KESC_HTTP_ADDRESS"]) {
    it(`ends with 1 when the address of ${variable} is taken`, async () => {
      const { address, release } = await takenPort();
      const { code, stderr } = await kesc(["serve"], { ...place.variables, [variable]: address });
      expect(code).to.equal(1);
      expect(stderr).to.contain(address).and.contain("in use already");
      release();
    });
  }
});

describe("kesc serve --demo", () => {
  let place: Place;
  before(() => {
    place = new Place();
  });
  after(() => {
    place.remove();
  });

  /** What to paste, in the order of the page. */
  function pastedLines(words: string): { curl: string; grpcurl: string } {
    const [, curl = "", grpcurl = ""] = /with curl:\n\n(.+?)\n\nor with grpcurl:\n\n(.+?)\n\n/s.exec(words) ?? [];
    return { curl, grpcurl };
  }

  async function paste(lines: string, variables: Readonly<Record<string, string>>): Promise<string[]> {
    const options = { env: environment(variables) };
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", lines], options);
    return stdout.trim().split("\n");
  }

  it("makes a database and a key, and prints requests that work as they are", async () => {
    const serve = new RunningKesc(["serve", "--demo"], place.variables);
    const { grpcAddress = "" } = await serve.ready;
    await serve.said("AccountService/GetAccount");
    const { curl, grpcurl } = pastedLines(serve.stdout);
    const [accountId = "", mint = "", redeem = "", list = "", account = ""] = await paste(curl, {});
    expect(accountId).to.match(/^acc_/);
    expect(mint).to.contain('"type":"mint"').and.contain('"amount":1000.00');
    expect(redeem).to.contain('"type":"redeem"').and.contain('"amount":250.50');
    expect((JSON.parse(list) as { transactions: unknown[] }).transactions).to.have.length(2);
    expect(account).to.contain('"available_balance":749.50');
    expect(grpcurl).to.contain(`${grpcAddress} kesc.v1.AccountService/GetAccount`);
    expect(await serve.end()).to.equal(0);
    expect((await kesc(["verify"], place.variables)).code).to.equal(0);
  });

  it("keeps the database and the key of the first time, and says how to make another", async () => {
    const serve = new RunningKesc(["serve", "--demo"], place.variables);
    await serve.said("AccountService/GetAccount");
    const [organization] = await kescJson<{ id: string }[]>(["org", "list"], place.variables);
    expect(serve.stdout).to.not.contain("export KESC_API_KEY");
    expect(serve.stdout).to.contain(`npx kesc key create --org ${organization?.id ?? ""} --name NAME`);

    const key = ["key", "create", "--org", "demo", "--name", "another"];
    const { key: secret } = await kescJson<{ key: string }>(key, place.variables);
    const answers = await paste(pastedLines(serve.stdout).curl, { KESC_API_KEY: secret });
    expect(answers[4]).to.contain('"available_balance":749.50');
    expect(await serve.end()).to.equal(0);
  });
});
