import { once } from "node:events";
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";

import { expect } from "chai";

import { MintRequest, TransactionServiceService as rpcs } from "../../src/gen/kesc/v1/transaction_service.js";
import { call, eventually, MINT, SECRET, serve, type ServerUnderTest } from "./harness.js";

describe("grpc: callers who do not keep to the rules", () => {
  let under: ServerUnderTest;
  let session: ClientHttp2Session;
  beforeEach(async () => {
    under = await serve({ limits: { requestMillisMax: 200, requestBytesMax: 1_000 } });
    session = connect(`http://${under.server.address}`);
    await once(session, "connect");
  });
  afterEach(async () => {
    session.destroy();
    await under.close();
  });

  function open(headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    return session.request({
      ":method": "POST",
      ":path": rpcs.mint.path,
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": SECRET,
      ...headers,
    });
  }

  /** Status and message of a call, wherever they come. */
  async function ending(stream: ClientHttp2Stream): Promise<Record<string, unknown>> {
    const heard: Record<string, unknown> = {};
    for (const event of ["response", "trailers"]) {
      stream.on(event, (headers: Record<string, unknown>) => Object.assign(heard, headers));
    }
    stream.resume();
    await once(stream, "end");
    return heard;
  }

  const frame = (message: Buffer): Buffer => {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
  };
  const MINT_FRAME = frame(Buffer.from(MintRequest.encode(MINT).finish()));

  for (const [name, bytes] of [
    ["nothing", Buffer.alloc(0)],
    ["half a message", MINT_FRAME.subarray(0, 10)],
    ["a message, but no end", MINT_FRAME],
  ] as const) {
    it(`ends a call that sends headers and then ${name}`, async () => {
      const stream = open();
      if (bytes.length > 0) stream.write(bytes);
      const startedAt = Date.now();
      expect(await ending(stream)).to.include({ "grpc-status": "4" });
      expect(Date.now() - startedAt).to.be.within(150, 1_000);
      expect(under.lines).to.deep.include({
        ...under.lines.at(-1),
        method: "TransactionService/Mint",
        code: "DEADLINE_EXCEEDED",
        reason: "DEADLINE_EXCEEDED",
      });
    });
  }

  it("does not do what it has answered already, when its end comes late", async () => {
    const stream = open();
    stream.write(MINT_FRAME);
    await ending(stream);
    stream.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(under.submitted).to.deep.equal([]);
  });

  it("leaves a call alone whose request has come, however long it takes", async () => {
    const slow = await serve({
      limits: { requestMillisMax: 50 },
      submit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { kind: "refused", refusal: { reason: "QUEUE_FULL" } };
      },
    });
    expect((await call(slow.client, rpcs.mint, MINT)).details.reason).to.equal("QUEUE_FULL");
    await slow.close();
  });

  it("refuses a request that is too large", async () => {
    const stream = open();
    stream.end(frame(Buffer.alloc(1_001)));
    expect(await ending(stream)).to.include({ "grpc-status": "8" });
  });

  it("answers a call without a message", async () => {
    const stream = open();
    stream.end();
    expect(await ending(stream)).to.include({ "grpc-status": "12" });
  });

  it("answers an rpc that it does not have", async () => {
    const stream = open({ ":path": "/kesc.v1.TransactionService/Print" });
    stream.end(MINT_FRAME);
    expect(await ending(stream)).to.include({ "grpc-status": "12" });
  });

  it("keeps a key with a letter too many out of the log", async () => {
    const stream = open({ "x-api-key": `${SECRET}é` });
    stream.end(MINT_FRAME);
    expect(await ending(stream)).to.include({ "grpc-status": "16" });
    await eventually(() => under.lines.length >= 2);
    expect(JSON.stringify(under.lines)).not.to.contain(SECRET);
    expect(under.lines).to.deep.include({
      ...under.lines.find(({ library }) => library !== undefined),
      msg: "Failed to add metadata entry x-api-key",
    });
  });

  it("refuses two keys in one header", async () => {
    const stream = open({ "x-api-key": [SECRET, SECRET] });
    stream.end(MINT_FRAME);
    expect(await ending(stream)).to.include({ "grpc-status": "16" });
  });

  it("serves on after a thousand streams that were opened and dropped", async () => {
    for (let count = 0; count < 900; count += 1) {
      const stream = open();
      stream.on("error", () => undefined);
      stream.close(8);
    }
    expect((await call(under.client, rpcs.mint, MINT)).error).to.equal(undefined);
  });
});
