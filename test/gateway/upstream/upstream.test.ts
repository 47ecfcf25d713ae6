import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { create, toJson } from "@bufbuild/protobuf";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { expect } from "chai";

import { CONTRACT_URL, readContract, rpcOf } from "../../../contract/contract.js";
import type { RpcCallOptions, UpstreamResult } from "../../../contract/rpc.js";
import { ServerConnections } from "../../../gateway/upstream/connections.js";
import { createUpstream, type Upstream } from "../../../gateway/upstream/upstream.js";
import { FakeServer, type ReceivedCall } from "../../support/gateway/fake-server.js";

const { registry } = readContract(readFileSync(CONTRACT_URL));
const rpc = rpcOf(registry, "kesc.v1.TransactionService", "GetTransaction");

describe("the gateway's client of the server", () => {
  const server = new FakeServer(registry);
  const connect = (): Upstream =>
    createUpstream(registry, {
      channel: new ServerConnections({ target: server.target, credentials: credentials.createInsecure() }),
      bulkBytesMax: 1_000,
    });
  let upstream: Upstream;
  before(async () => {
    await server.start();
    upstream = connect();
  });
  after(() => {
    upstream.close();
    server.stop();
  });
  beforeEach(() => server.calls.splice(0));

  function call(options: Partial<RpcCallOptions> = {}): Promise<UpstreamResult> {
    const request = create(rpc.input, { transactionId: "txn_1" });
    const deadline = Date.now() + 10_000;
    return upstream.call(rpc, request, {
      metadata: new Metadata(),
      deadline,
      onCancel: () => undefined,
      ...options,
    });
  }

  it("sends the message and the metadata, and returns the response", async () => {
    server.handle = () => ({ message: { transaction: { id: "txn_1" } } });
    const metadata = new Metadata();
    metadata.set("x-api-key", "kesc_1");
    const result = await call({ metadata });
    expect(result).to.include({ ok: true, replayed: false });
    expect(result.ok && toJson(rpc.output, result.message)).to.deep.equal({ transaction: { id: "txn_1" } });
    const received = server.takeCall();
    expect(received).to.deep.include({ rpc: "GetTransaction", message: { transaction_id: "txn_1" } });
    expect(received.metadata).to.have.property("x-api-key", "kesc_1");
  });

  for (const where of ["headers", "trailers"] as const) {
    it(`finds the mark of a replay in the ${where}`, async () => {
      server.handle = () => ({ [where]: { "idempotent-replayed": "true" } });
      expect(await call()).to.include({ ok: true, replayed: true });
    });
  }

  it("returns the status of a refusal with its details", async () => {
    server.handle = () => ({ refusal: { code: status.NOT_FOUND, text: "None.", reason: "NOWHERE" } });
    const result = await call();
    if (result.ok) throw new Error("the call was not refused");
    expect(result.status).to.include({ code: status.NOT_FOUND, message: "None." });
    expect(result.status.details.map(({ typeUrl }) => typeUrl)).to.deep.equal([
      "type.googleapis.com/google.rpc.ErrorInfo",
    ]);
  });

  it("returns DEADLINE_EXCEEDED when the deadline passes", async () => {
    server.handle = async ({ cancelled }) => {
      await cancelled;
      return {};
    };
    const result = await call({ deadline: Date.now() + 100 });
    expect(!result.ok && result.status).to.deep.include({ code: status.DEADLINE_EXCEEDED, details: [] });
  });

  it("cancels the call", async () => {
    let cancel = (): void => undefined;
    const arrived = new Promise<ReceivedCall>((resolve) => {
      server.handle = async (received) => {
        resolve(received);
        await received.cancelled;
        return {};
      };
    });
    const calling = call({ onCancel: (listener) => (cancel = listener) });
    const { cancelled } = await arrived;
    cancel();
    await cancelled;
    const result = await calling;
    expect(!result.ok && result.status.code).to.equal(status.CANCELLED);
  });

  it("asks whether the server serves", async () => {
    expect(await upstream.isServing()).to.equal(true);
    server.isServing = false;
    expect(await upstream.isServing()).to.equal(false);
    server.isServing = true;
  });

  it("returns UNAVAILABLE while there is no server, and reconnects when there is one", async () => {
    upstream.close();
    server.stop();
    upstream = connect();
    const result = await call();
    expect(!result.ok && result.status).to.deep.include({ code: status.UNAVAILABLE, details: [] });
    expect(await upstream.isServing()).to.equal(false);
    server.handle = () => ({});
    await server.start();
    while (!(await call()).ok) await sleep(50);
  });
});
