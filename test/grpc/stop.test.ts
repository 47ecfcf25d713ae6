import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { ServerReflectionService } from "../../src/gen/grpc/reflection/v1/reflection.js";
import { MintRequest, TransactionServiceService as rpcs } from "../../src/gen/kesc/v1/transaction_service.js";
import {
  call,
  callLines,
  connect,
  detailsOf,
  eventually,
  type Heard,
  MINT,
  SECRET,
  serve,
  transaction,
} from "../support/grpc-harness.js";

describe("grpc: a server that stops", () => {
  it("answers the calls that it has taken, and turns away those that come later", async () => {
    const release: (() => void)[] = [];
    const under = await serve({
      submit: () =>
        new Promise((resolve) => {
          release.push(() => {
            resolve({ kind: "done", resource: transaction(), replayed: false });
          });
        }),
    });
    const taken = Array.from({ length: 100 }, () => call(under.client, rpcs.mint, MINT));
    await eventually(() => release.length === 100);
    const stopping = under.server.stop(5_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const late = await call(under.client, rpcs.mint, MINT);
    expect(late.error?.code).to.equal(Status.UNAVAILABLE);

    for (const answer of release) answer();
    const codes = (await Promise.all(taken)).map(({ status }) => status.code);
    expect(codes).to.deep.equal(codes.map(() => Status.OK));
    await stopping;
    under.client.close();
  });

  it("takes calls while it is a lame duck, then answers SHUTTING_DOWN on connections that are still open", async () => {
    const under = await serve({ limits: { lameDuckMillis: 200 } });
    await call(under.client, rpcs.mint, MINT);
    const stopping = under.server.stop(5_000);
    expect((await call(under.client, rpcs.mint, MINT)).error).to.equal(undefined);
    await stopping;
    expect((await call(under.client, rpcs.mint, MINT)).error?.code).to.equal(Status.UNAVAILABLE);
    under.client.close();
  });

  it("loses nothing under load: every mint that was done is heard of, every other one is UNAVAILABLE", async () => {
    let done = 0;
    const under = await serve({
      submit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        done += 1;
        return { kind: "done", resource: transaction(), replayed: false };
      },
    });
    const clients = Array.from({ length: 4 }, () => connect(under.server.address));
    const heard: Heard<unknown>[] = [];
    let stopped = false;
    const load = clients.flatMap((client) =>
      Array.from({ length: 50 }, async () => {
        while (!stopped) {
          const answer = await call(client, rpcs.mint, MINT);
          heard.push(answer);
          if (answer.error !== undefined) return;
        }
      }),
    );
    await eventually(() => done > 1_000);
    await under.server.stop(5_000);
    stopped = true;
    await Promise.all(load);
    for (const client of clients) client.close();

    const codes = new Set(heard.map(({ status }) => status.code));
    expect([...codes]).to.have.members([Status.OK, Status.UNAVAILABLE]);
    expect(heard.filter(({ error }) => error === undefined)).to.have.length(done);
    under.client.close();
  });

  it("says SHUTTING_DOWN, and when to come back, to a call that had begun and whose request comes now", async () => {
    const under = await serve();
    const session = connectHttp2(`http://${under.server.address}`);
    const stream = session.request({
      ":method": "POST",
      ":path": rpcs.mint.path,
      "content-type": "application/grpc",
      "x-api-key": SECRET,
    });
    const trailers: Record<string, unknown> = {};
    stream.on("trailers", (headers: Record<string, unknown>) => Object.assign(trailers, headers)).resume();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const stopping = under.server.stop(5_000);
    await once(session, "goaway");
    const message = MintRequest.encode(MINT).finish();
    stream.end(Buffer.concat([Buffer.of(0, 0, 0, 0, message.length), message]));
    await once(stream, "end");

    expect(trailers["grpc-status"]).to.equal("14");
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from(String(trailers["grpc-status-details-bin"]), "base64"));
    expect(detailsOf(metadata)).to.deep.include({ reason: "SHUTTING_DOWN", retrySeconds: 1 });
    expect(under.submitted).to.deep.equal([]);
    await stopping;
    under.client.close();
  });

  it("ends reflection streams", async () => {
    const under = await serve();
    const rpc = ServerReflectionService.serverReflectionInfo;
    const stream = under.client.makeBidiStreamRequest(
      rpc.path,
      rpc.requestSerialize,
      rpc.responseDeserialize,
      new Metadata(),
    );
    stream.on("error", () => undefined);
    stream.write({ host: "", message_request: { $case: "list_services", value: "" } });
    await once(stream, "data");
    const startedAt = Date.now();
    await under.server.stop(5_000);
    expect(Date.now() - startedAt).to.be.lessThan(1_000);
    under.client.close();
  });

  it("cuts what is not answered within the grace, and says how much that was", async () => {
    const under = await serve({ submit: () => new Promise(() => undefined) });
    const calling = call(under.client, rpcs.mint, MINT);
    await eventually(() => under.submitted.length === 1);
    const failure: unknown = await under.server.stop(200).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", "1 calls were cut without an answer");
    expect((await calling).error?.code).to.be.oneOf([Status.UNAVAILABLE, Status.CANCELLED, Status.INTERNAL]);
    expect(callLines(under.lines)).to.deep.equal([]);
    under.client.close();
  });
});

describe("grpc: an address", () => {
  const socket = (): string => join(mkdtempSync(join(tmpdir(), "kesc-")), "kesc.sock");

  it("may be a unix socket, which is gone afterwards", async () => {
    const path = socket();
    const under = await serve({ address: `unix:${path}` });
    expect(under.server.address).to.equal(`unix:${path}`);
    expect((await call(under.client, rpcs.mint, MINT)).error).to.equal(undefined);
    await under.close();
    expect(existsSync(path)).to.equal(false);
  });

  it("may be the unix socket of a server that was killed", async () => {
    const path = socket();
    const killed = spawn(process.execPath, [
      "--eval",
      `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    await once(killed, "exit");
    expect(existsSync(path)).to.equal(true);
    const under = await serve({ address: `unix:${path}` });
    expect((await call(under.client, rpcs.mint, MINT)).error).to.equal(undefined);
    await under.close();
  });

  it("is not taken from a server that lives", async () => {
    const path = socket();
    const living = createServer().listen(path);
    await once(living, "listening");
    const failure: unknown = await serve({ address: `unix:${path}` }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", `cannot listen on unix:${path}`);
    expect(existsSync(path)).to.equal(true);
    living.close();
  });
});
