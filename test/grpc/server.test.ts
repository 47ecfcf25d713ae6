import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { ServerReflectionService } from "../../src/gen/grpc/reflection/v1/reflection.js";
import { TransactionServiceService as rpcs } from "../../src/gen/kesc/v1/transaction_service.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { detailsOf } from "../support/callers/refusal.js";
import { eventually } from "../support/eventually.js";
import { doneWith, gatedLedger, MINT, SECRET, serve } from "../support/service/grpc-server.js";
import { callLines } from "../support/service/log-lines.js";

const OK: number = Status.OK;
const GRACE_WITHOUT_END_MILLIS = 600_000;

describe("grpc: a server that stops", () => {
  it("responds to the calls that it has taken, and refuses those that come later", async () => {
    const release: (() => void)[] = [];
    const under = await serve({
      submit: () =>
        new Promise((resolve) => {
          release.push(() => {
            resolve(doneWith());
          });
        }),
    });
    const taken = Array.from({ length: 100 }, () => under.grpc.call(rpcs.mint, MINT));
    await eventually(() => release.length === 100);
    const stopping = under.server.stop(5_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const late = await under.grpc.call(rpcs.mint, MINT);
    expect(late.code).to.equal(Status.UNAVAILABLE);

    for (const answer of release) answer();
    const codes = (await Promise.all(taken)).map(({ code }) => code);
    expect(codes).to.deep.equal(codes.map(() => Status.OK));
    await stopping;
    under.grpc.close();
  });

  it("takes calls in its lame-duck time, then refuses them with SHUTTING_DOWN on open connections", async () => {
    const under = await serve({ limits: { lameDuckMillis: 200 } });
    await under.grpc.call(rpcs.mint, MINT);
    const stopping = under.server.stop(5_000);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    await stopping;
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.UNAVAILABLE);
    under.grpc.close();
  });

  it("loses nothing under load: each mint that was done gets its response, any other is UNAVAILABLE", async () => {
    let done = 0;
    const under = await serve({
      submit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        done += 1;
        return doneWith();
      },
    });
    const clients = Array.from({ length: 4 }, () => new GrpcCaller(under.server.address, { key: SECRET }));
    const codes: number[] = [];
    let stopped = false;
    const load = clients.flatMap((client) =>
      Array.from({ length: 50 }, async () => {
        while (!stopped) {
          const { code } = await client.call(rpcs.mint, MINT);
          codes.push(code);
          if (code !== OK) return;
        }
      }),
    );
    await eventually(() => done > 200);
    await under.server.stop(5_000);
    stopped = true;
    await Promise.all(load);
    for (const client of clients) client.close();

    expect([...new Set(codes)]).to.have.members([Status.OK, Status.UNAVAILABLE]);
    expect(codes.filter((code) => code === OK)).to.have.length(done);
    under.grpc.close();
  });

  it("refuses a call that has begun and whose request has not arrived, with SHUTTING_DOWN and a retry delay", async () => {
    const under = await serve();
    const session = connectHttp2(`http://${under.server.address}`);
    await once(session, "connect");
    const stream = session.request({
      ":method": "POST",
      ":path": rpcs.mint.path,
      "content-type": "application/grpc",
      "x-api-key": SECRET,
    });
    stream.write(Buffer.of(0, 0, 0));
    // HTTP/2 sends a ping first, so the second one comes after the request.
    for (let pings = 0; pings < 2; pings += 1) await new Promise((resolve) => session.ping(resolve));
    const stopping = under.server.stop(GRACE_WITHOUT_END_MILLIS);
    const [trailers] = (await once(stream.resume(), "response")) as [Record<string, unknown>];
    expect(trailers["grpc-status"]).to.equal("14");
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from(String(trailers["grpc-status-details-bin"]), "base64"));
    expect(detailsOf(metadata)).to.deep.include({ reason: "SHUTTING_DOWN", retrySeconds: 1 });
    expect(under.submitted).to.deep.equal([]);
    await stopping;
    under.grpc.close();
  });

  it("waits for the calls that it has taken, and not for connections that say nothing", async () => {
    const ledger = gatedLedger();
    const under = await serve({ submit: ledger.submit });
    const [host, port] = under.server.address.split(":");
    const silent = await Promise.all(
      ["", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0"].map(async (text) => {
        // A client that never closes its side.
        const socket = connect({ host, port: Number(port), allowHalfOpen: true }).on("error", () => undefined);
        await once(socket, "connect");
        socket.write(text);
        return socket.resume();
      }),
    );
    const taken = under.grpc.call(rpcs.mint, MINT);
    await eventually(() => under.submitted.length === 1);
    let stopped = false;
    const stopping = under.server.stop(GRACE_WITHOUT_END_MILLIS).then(() => (stopped = true));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(stopped).to.equal(false);
    ledger.open();
    expect((await taken).code).to.equal(Status.OK);
    await stopping;
    for (const socket of silent) socket.destroy();
    under.grpc.close();
  });

  it("ends reflection streams", async () => {
    const under = await serve();
    const stream = under.grpc.open(ServerReflectionService.serverReflectionInfo);
    stream.send({ host: "", message_request: { $case: "list_services", value: "" } });
    await eventually(() => stream.responses.length === 1);
    // An open stream would hold the server for the whole grace, longer than a test may run.
    await under.server.stop(GRACE_WITHOUT_END_MILLIS);
    await stream.ended;
    under.grpc.close();
  });

  it("cuts the calls that take longer than the grace period, and reports their number", async () => {
    const under = await serve({ submit: () => new Promise(() => undefined) });
    const calling = under.grpc.call(rpcs.mint, MINT);
    await eventually(() => under.submitted.length === 1);
    const failure: unknown = await under.server.stop(200).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", "1 calls in flight were cut off");
    expect((await calling).code).to.be.oneOf([Status.UNAVAILABLE, Status.CANCELLED, Status.INTERNAL]);
    expect(callLines(under.lines)).to.deep.equal([]);
    under.grpc.close();
  });
});

describe("grpc: the address of a server", () => {
  it("may be a name, with a port that the machine chooses", async () => {
    const under = await serve({ address: "localhost:0" });
    expect(under.server.address).to.match(/^localhost:[1-9]/);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    await under.close();
  });

  it("can't be one that this machine does not have", async () => {
    // An address for documentation (RFC 5737).
    const failure: unknown = await serve({ address: "192.0.2.1:0" }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", "cannot listen on 192.0.2.1:0");
  });

  const socket = (): string => join(mkdtempSync(join(tmpdir(), "kesc-")), "kesc.sock");

  it("may be a unix socket, which the server removes when it stops", async () => {
    const path = socket();
    const under = await serve({ address: `unix:${path}` });
    expect(under.server.address).to.equal(`unix:${path}`);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    await under.close();
    expect(existsSync(path)).to.equal(false);
  });

  it("may be a unix socket that a killed server has left behind", async () => {
    const path = socket();
    const killed = spawn(process.execPath, [
      "--eval",
      `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    await once(killed, "exit");
    expect(existsSync(path)).to.equal(true);
    const under = await serve({ address: `unix:${path}` });
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    await under.close();
  });

  it("can't be the unix socket of a running server", async () => {
    const path = socket();
    const living = createServer().listen(path);
    await once(living, "listening");
    const failure: unknown = await serve({ address: `unix:${path}` }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", `cannot listen on unix:${path}`);
    expect(existsSync(path)).to.equal(true);
    living.close();
  });
});
