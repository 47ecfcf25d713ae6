import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect } from "chai";

import { GatewayFixture } from "../support/gateway-fixture.js";

const MAIN = fileURLToPath(new URL(`../../gateway/main${import.meta.url.slice(-3)}`, import.meta.url));

describe("the life of the gateway", () => {
  let fixture: GatewayFixture;
  beforeEach(() => {
    fixture = new GatewayFixture();
  });
  afterEach(() => fixture.stop());

  it("finishes the request in flight when it stops, closes its connection, and takes no new one", async () => {
    await fixture.start();
    const call = holdCall();
    const answer = fixture.send("GET", "/transactions");
    await call.arrived;
    const stopped = fixture.gateway.stop();
    const refused: unknown = await fixture.send("GET", "/livez").catch((error: unknown) => error);
    expect(refused).to.have.property("code", "ECONNREFUSED");
    call.release();
    expect(await answer).to.deep.include({ status: 200 });
    expect((await answer).headers).to.have.property("connection", "close");
    expect(await stopped).to.equal(true);
  });

  it("says that it is not ready when it stops, to a request that was on its way, and closes its connection", async () => {
    await fixture.start();
    const [host = "", port = ""] = fixture.gateway.address.split(":");
    const socket = connect(Number(port), host).setEncoding("utf8");
    socket.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    socket.write("GET /readyz HTTP/1.1\r\nHo");
    // The server has seen the beginning once it has answered another request that came later.
    await fixture.send("GET", "/livez");
    const stopped = fixture.gateway.stop();
    let received = "";
    socket.on("data", (text: string) => (received += text));
    socket.write("st: x\r\n\r\n");
    await once(socket, "close");
    expect(received).to.match(/^HTTP\/1\.1 503 [^]*Connection: close\r\n[^]*"code":"NOT_READY"/);
    expect(await stopped).to.equal(true);
  });

  it("does not wait for connections that were never used", async () => {
    await fixture.start();
    const [host = "", port = ""] = fixture.gateway.address.split(":");
    const socket = connect(Number(port), host);
    await once(socket, "connect");
    // The server has seen the connection once it has answered another that came later.
    await fixture.send("GET", "/livez");
    const closed = once(socket.resume(), "close");
    // False when it waited for the connection until the grace period ended.
    expect(await fixture.gateway.stop()).to.equal(true);
    await closed;
  });

  it("gives a request that does not end only the grace period", async () => {
    await fixture.start({ shutdownGraceSeconds: 0 });
    const call = holdCall();
    const answer = fixture.send("GET", "/transactions").catch((error: unknown) => error);
    await call.arrived;
    expect(await fixture.gateway.stop()).to.equal(false);
    expect(await answer).to.have.property("code", "ECONNRESET");
    call.release();
  });

  it("as a program: says when it is ready and where, and ends well on SIGTERM, its log complete", async () => {
    await fixture.start();
    const child = runMain({ KESC_HTTP_ADDRESS: "127.0.0.1:0", KESC_GATEWAY_TARGET: fixture.server.target });
    const [message] = (await once(child.process, "message")) as [{ kind: string; address: string }];
    expect(message.kind).to.equal("ready");
    expect((await fetch(`http://${message.address}/readyz`)).status).to.equal(200);
    child.process.kill("SIGTERM");
    expect(await child.exited).to.equal(0);
    const lines = child
      .output()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(lines).to.deep.equal(["ready", "request", "stopping", "stopped"]);
  });

  it("as a program: ends when whoever started it is gone", async () => {
    const child = runMain({ KESC_HTTP_ADDRESS: "127.0.0.1:0" });
    await once(child.process, "message");
    child.process.disconnect();
    expect(await child.exited).to.equal(0);
  });

  for (const processes of ["1", "2"]) {
    it(`as a program of ${processes}: says in one line that its address is in use`, async () => {
      await fixture.start();
      const child = runMain({ KESC_HTTP_ADDRESS: fixture.gateway.address, KESC_GATEWAY_PROCESSES: processes });
      expect(await child.exited).to.equal(1);
      expect(child.errors()).to.equal(
        `the gateway cannot start: ${fixture.gateway.address} (KESC_HTTP_ADDRESS) is in use already\n`,
      );
    });
  }

  describe("as several processes", () => {
    async function runTwo(): Promise<ReturnType<typeof runMain> & { address: string }> {
      await fixture.start();
      const child = runMain({
        KESC_HTTP_ADDRESS: "127.0.0.1:0",
        KESC_GATEWAY_TARGET: fixture.server.target,
        KESC_GATEWAY_PROCESSES: "2",
      });
      const [{ address }] = (await once(child.process, "message")) as [{ address: string }];
      while (timesIn(child.output(), "ready") < 2) await sleep(10);
      return { ...child, address };
    }

    it("finishes the request in flight on SIGTERM, and ends well", async () => {
      const gateway = await runTwo();
      const call = holdCall();
      const answer = fetch(`http://${gateway.address}/transactions`);
      await call.arrived;
      gateway.process.kill("SIGTERM");
      while (timesIn(gateway.output(), "stopping") < 2) await sleep(10);
      call.release();
      expect((await answer).status).to.equal(200);
      expect(await gateway.exited).to.equal(0);
      expect(timesIn(gateway.output(), "stopped")).to.equal(2);
    });

    it("takes connections in turn, on one address", async () => {
      const gateway = await runTwo();
      const pids = await childrenOf(gateway.process.pid);
      process.kill(pids[0] ?? 0, "SIGSTOP");
      const answers = [1, 2].map(() => fetch(`http://${gateway.address}/livez`, { headers: { connection: "close" } }));
      expect((await Promise.race(answers)).status).to.equal(200);
      process.kill(pids[0] ?? 0, "SIGCONT");
      expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200]);
      gateway.process.kill("SIGTERM");
      expect(await gateway.exited).to.equal(0);
    });

    it("ends with 1 when one of them is killed, and takes the other with it", async () => {
      const gateway = await runTwo();
      const [pid = 0] = await childrenOf(gateway.process.pid);
      process.kill(pid, "SIGKILL");
      expect(await gateway.exited).to.equal(1);
      expect(timesIn(gateway.output(), "stopped")).to.equal(1);
    });

    it("ends when whoever started it is gone", async () => {
      const gateway = await runTwo();
      gateway.process.disconnect();
      expect(await gateway.exited).to.equal(0);
      expect(timesIn(gateway.output(), "stopped")).to.equal(2);
    });

    it("leaves nothing behind when the process that hands out the connections is killed", async () => {
      const gateway = await runTwo();
      gateway.process.kill("SIGKILL");
      // Their output ends when the last of them has.
      await gateway.exited;
      expect(timesIn(gateway.output(), "stopped")).to.equal(2);
    });
  });

  it("as a program: names every variable that is wrong and does not start", async () => {
    const child = runMain({ KESC_HTTP_ADDRESS: "x", KESC_CALL_SECONDS_MAX: "x" });
    expect(await child.exited).to.equal(1);
    expect(child.errors().match(/^KESC_\w+ must be /gm)).to.deep.equal([
      "KESC_HTTP_ADDRESS must be ",
      "KESC_CALL_SECONDS_MAX must be ",
    ]);
  });

  /** Lets the next call reach the server, and wait there. */
  function holdCall(): { arrived: Promise<void>; release: () => void } {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const arrived = new Promise<void>((resolve) => {
      fixture.server.handle = async () => {
        resolve();
        await released;
        return {};
      };
    });
    return { arrived, release };
  }
});

function timesIn(log: string, message: string): number {
  return log.split(`"msg":"${message}"`).length - 1;
}

async function childrenOf(parent: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));
}

function runMain(environment: Record<string, string>) {
  const child = spawn(
    process.execPath,
    [...process.execArgv, ...(MAIN.endsWith(".ts") ? ["--import", "tsx"] : []), MAIN],
    {
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  let output = "";
  let errors = "";
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the program has no pipes");
  stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  // Node never emits "close" once we have disconnected from the child; the pipes end for
  // themselves.
  const exited = Promise.all([once(child, "exit"), once(stdout, "end"), once(stderr, "end")]).then(
    ([[code]]) => code as number | null,
  );
  return { process: child, exited, output: () => output, errors: () => errors };
}
