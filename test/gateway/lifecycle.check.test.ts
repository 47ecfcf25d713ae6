import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";

import { expect } from "chai";
import { pino } from "pino";

import { readConfig } from "../../gateway/config.js";
import { GatewayThreads } from "../../gateway/threads.js";
import { GatewayFixture } from "../support/gateway/fixture.js";
import { rawConnection } from "../support/gateway/raw-connection.js";
import { KESC } from "../support/service/kesc.js";

describe("the lifecycle of the gateway", () => {
  let fixture: GatewayFixture;
  beforeEach(() => {
    fixture = new GatewayFixture();
  });
  afterEach(() => fixture.stop());

  it("finishes the request in flight when it stops, closes its connection, and accepts no other", async () => {
    await fixture.start();
    const call = fixture.server.hold();
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

  it("answers all requests of a connection that it had when the stop began, and takes no other", async () => {
    await fixture.start();
    const call = fixture.server.hold();
    const get = "GET /transactions HTTP/1.1\r\nHost: x\r\n\r\n";
    const { socket, received } = rawConnection(fixture.gateway.address, get + get);
    await call.arrived;
    await fixture.send("GET", "/livez");
    const stopped = fixture.gateway.stop();
    socket.write(get);
    await sleep(100);
    call.release();
    await once(socket, "close");
    expect(received().match(/HTTP\/1\.1 200 OK/g)).to.have.length(2);
    expect(received().match(/Connection: close/gi)).to.have.length(1);
    expect(await stopped).to.equal(true);
  });

  for (const [what, bytes, answer] of [
    ["half of the head", "POST /transactions/mint HTTP/1.1\r\nHo", /^$/],
    [
      "half of the body",
      "POST /transactions/mint HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
      /^HTTP\/1\.1 503 [^]*Connection: close\r\n[^]*"code":"SHUTTING_DOWN"/i,
    ],
  ] as const) {
    it(`does not wait for a request of which it has ${what}`, async () => {
      await fixture.start();
      const get = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
      const { socket, received } = rawConnection(fixture.gateway.address, get);
      await once(socket, "data");
      const first = received().length;
      socket.write(bytes);
      // The gateway has read the bytes when it has responded to a later request.
      await fixture.send("GET", "/livez");
      const stopped = fixture.gateway.stop();
      await once(socket, "close");
      expect(received().slice(first)).to.match(answer);
      expect(await stopped).to.equal(true);
    });
  }

  it("does not wait for connections that were never used", async () => {
    await fixture.start();
    const { socket } = rawConnection(fixture.gateway.address);
    await once(socket, "connect");
    // The gateway has accepted the connection when it has responded on a later one.
    await fixture.send("GET", "/livez");
    const closed = once(socket, "close");
    // Returns false when the connection is closed only by the end of the grace period.
    expect(await fixture.gateway.stop()).to.equal(true);
    await closed;
  });

  it("cuts off a request that does not end within the grace period", async () => {
    await fixture.start({ shutdownGraceSeconds: 0 });
    const call = fixture.server.hold();
    const answer = fixture.send("GET", "/transactions").catch((error: unknown) => error);
    await call.arrived;
    expect(await fixture.gateway.stop()).to.equal(false);
    expect(await answer).to.have.property("code", "ECONNRESET");
    call.release();
  });

  it("as a program: reports its address when it is ready, and exits with 0 and a complete log on SIGTERM", async () => {
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

  it("as a program: stops when its parent process disconnects", async () => {
    const child = runMain({ KESC_HTTP_ADDRESS: "127.0.0.1:0" });
    await once(child.process, "message");
    child.process.disconnect();
    expect(await child.exited).to.equal(0);
  });

  for (const processes of ["1", "2"]) {
    it(`as a program of ${processes} threads: reports in one line that its address is in use`, async () => {
      await fixture.start();
      const child = runMain({ KESC_HTTP_ADDRESS: fixture.gateway.address, KESC_GATEWAY_PROCESSES: processes });
      expect(await child.exited).to.equal(1);
      expect(child.errors()).to.equal(
        `the gateway cannot start: ${fixture.gateway.address} (KESC_HTTP_ADDRESS) is in use already\n`,
      );
    });
  }

  describe("as several threads", () => {
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

    it("finishes the request in flight on SIGTERM, and exits with 0", async () => {
      const gateway = await runTwo();
      const call = fixture.server.hold();
      const answer = fetch(`http://${gateway.address}/transactions`);
      await call.arrived;
      gateway.process.kill("SIGTERM");
      while (timesIn(gateway.output(), "stopping") < 2) await sleep(10);
      call.release();
      expect((await answer).status).to.equal(200);
      expect(await gateway.exited).to.equal(0);
      expect(timesIn(gateway.output(), "stopped")).to.equal(2);
    });

    it("ends when one of them does", async () => {
      const config = readConfig({
        KESC_HTTP_ADDRESS: "127.0.0.1:0",
        KESC_LOG_LEVEL: "silent",
        KESC_GATEWAY_PROCESSES: "2",
      });
      if (!config.ok) throw new Error(config.problems.join());
      const ports: MessagePort[] = [];
      const log = pino({ level: "silent" });
      const gateway = await GatewayThreads.start(config.config, { log, takeCalls: (port) => ports.push(port) });
      // What no server posts is a bug, which the thread does not survive.
      ports[0]?.postMessage([null]);
      expect(await gateway.ended).to.equal(1);
      expect(await gateway.stop()).to.equal(false);
    });

    it("stops when its parent process disconnects", async () => {
      const gateway = await runTwo();
      gateway.process.disconnect();
      expect(await gateway.exited).to.equal(0);
      expect(timesIn(gateway.output(), "stopped")).to.equal(2);
    });
  });

  it("as a program: reports every wrong variable and does not start", async () => {
    const child = runMain({ KESC_HTTP_ADDRESS: "x", KESC_CALL_SECONDS_MAX: "x" });
    expect(await child.exited).to.equal(2);
    expect(child.errors().match(/^KESC_\w+ must be /gm)).to.deep.equal([
      "KESC_HTTP_ADDRESS must be ",
      "KESC_CALL_SECONDS_MAX must be ",
    ]);
  });
});

function timesIn(log: string, message: string): number {
  return log.split(`"msg":"${message}"`).length - 1;
}

function runMain(environment: Record<string, string>) {
  const child = spawn(process.execPath, [KESC, "gateway"], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  let errors = "";
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the program has no pipes");
  stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  // Not "close": Node does not emit it for a child from which we have disconnected.
  const exited = Promise.all([once(child, "exit"), once(stdout, "end"), once(stderr, "end")]).then(
    ([[code]]) => code as number | null,
  );
  return { process: child, exited, output: () => output, errors: () => errors };
}
