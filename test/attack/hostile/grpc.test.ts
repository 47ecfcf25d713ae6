import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { MintRequest, TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { eventually } from "../../support/eventually.js";
import { MINT, SECRET, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

describe("grpc: clients that break the rules of gRPC", () => {
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

  /** The status and message of a call, whether they come in headers or in trailers. */
  async function ending(stream: ClientHttp2Stream): Promise<Record<string, unknown>> {
    const heard: Record<string, unknown> = {};
    for (const event of ["response", "trailers"]) {
      stream.on(event, (headers: Record<string, unknown>) => Object.assign(heard, headers));
    }
    stream.resume();
    await once(stream, "end");
    return heard;
  }

  const frame = (message: Buffer, flag = 0): Buffer => {
    const prefix = Buffer.of(flag, 0, 0, 0, 0);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
  };
  const MINT_BYTES = Buffer.from(MintRequest.encode(MINT).finish());
  const MINT_FRAME = frame(MINT_BYTES);

  for (const [name, bytes] of [
    ["nothing", Buffer.alloc(0)],
    ["half a message", MINT_FRAME.subarray(0, 10)],
    ["a message, but no end", MINT_FRAME],
  ] as const) {
    it(`ends a call that sends headers and then ${name}`, async () => {
      const stream = open();
      if (bytes.length > 0) stream.write(bytes);
      expect(await ending(stream)).to.include({ "grpc-status": "4" });
      expect(under.lines).to.deep.include({
        ...under.lines.at(-1),
        method: "TransactionService/Mint",
        code: "DEADLINE_EXCEEDED",
        reason: "DEADLINE_EXCEEDED",
      });
    });
  }

  it("does not do a call that it has ended, when its request comes late", async () => {
    const stream = open();
    stream.write(MINT_FRAME);
    await ending(stream);
    stream.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(under.submitted).to.deep.equal([]);
  });

  it("lets a call take its time once its request has come", async () => {
    const slow = await serve({
      limits: { requestMillisMax: 50 },
      submit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { kind: "refused", refusal: { reason: "QUEUE_FULL" } };
      },
    });
    expect((await slow.grpc.call(rpcs.mint, MINT)).reason).to.equal("QUEUE_FULL");
    await slow.close();
  });

  it("refuses a request that is too large", async () => {
    const stream = open();
    stream.end(frame(Buffer.alloc(1_001)));
    expect(await ending(stream)).to.include({ "grpc-status": "8" });
  });

  it("refuses a call without a message", async () => {
    const stream = open();
    stream.end();
    expect(await ending(stream)).to.include({ "grpc-status": "12" });
  });

  it("refuses an unknown rpc", async () => {
    const stream = open({ ":path": "/kesc.v1.TransactionService/Print" });
    stream.end(MINT_FRAME);
    expect(await ending(stream)).to.include({ "grpc-status": "12" });
  });

  it("keeps a malformed key out of the log", async () => {
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

  const bomb = Buffer.alloc(5_000_000);
  for (const [what, headers, body, code] of [
    ["a gzip of 5 MB of zeros", { "grpc-encoding": "gzip" }, frame(gzipSync(bomb), 1), "8"],
    ["the same as deflate", { "grpc-encoding": "deflate" }, frame(deflateSync(bomb), 1), "8"],
    ["a compression that nobody knows", { "grpc-encoding": "br" }, frame(MINT_BYTES, 1), "12"],
    ["a length of 4 GiB", {}, Buffer.concat([Buffer.of(0, 255, 255, 255, 255), MINT_BYTES]), "8"],
    ["two messages", {}, Buffer.concat([MINT_FRAME, MINT_FRAME]), "12"],
    ["ten thousand messages of nothing", {}, Buffer.alloc(50_000), "12"],
    [
      "half a surrogate pair in a text",
      {},
      frame(Buffer.concat([MINT_BYTES, Buffer.of(0x1a, 3, 0xed, 0xa0, 0x80)])),
      "3",
    ],
    ["bytes that are not UTF-8 in a text", {}, frame(Buffer.concat([MINT_BYTES, Buffer.of(0x22, 2, 0xff, 0xfe)])), "3"],
    ["NUL in a text", {}, frame(Buffer.concat([MINT_BYTES, Buffer.of(0x1a, 3, 0x41, 0, 0x41)])), "3"],
    ["groups in groups without end", {}, frame(Buffer.alloc(900, 0x0b)), "3"],
    ["a number without end", {}, frame(Buffer.alloc(20, 0xff)), "3"],
    ["a field that is longer than the message", {}, frame(Buffer.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)), "3"],
    ["a path past ASCII", { ":path": "/kesc.v1.TransactionService/Mint\u00ff" }, MINT_FRAME, "12"],
    ["a path of 30 KB", { ":path": `/${"x".repeat(30_000)}` }, MINT_FRAME, "12"],
    ["a path that every object has", { ":path": "/constructor" }, MINT_FRAME, "12"],
    ["a key past ASCII", { "x-api-key": "kesc_\u00ff" }, MINT_FRAME, "16"],
    // grpc-js itself responds to these. They are no bug of ours: nothing is logged, and nothing
    // happens.
    ["gzip that is none", { "grpc-encoding": "gzip" }, frame(MINT_BYTES, 1), "13"],
    ["a deadline of letters", { "grpc-timeout": "soon" }, MINT_FRAME, "13"],
    ["a deadline of nothing", { "grpc-timeout": "" }, MINT_FRAME, "13"],
    ["a deadline without a unit", { "grpc-timeout": "5" }, MINT_FRAME, "13"],
  ] as const) {
    it(`refuses ${what}, does nothing, and serves on`, async () => {
      const stream = open(headers);
      stream.end(body);
      expect(await ending(stream)).to.include({ "grpc-status": code });
      expect(under.submitted).to.deep.equal([]);
      expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
      expect(under.lines.filter(({ code: logged }) => logged === "INTERNAL")).to.deep.equal([]);
    });
  }

  for (const [timeout, millis] of [
    ["0n", 0],
    ["1n", 0],
    ["0H", 0],
    ["99999999n", 100],
    ["1S", 1_000],
  ] as const) {
    it(`gives a call with the deadline ${timeout} no more time than that`, async () => {
      const stream = open({ "grpc-timeout": timeout });
      stream.end(MINT_FRAME);
      await ending(stream);
      // A call whose deadline passes at once may never have begun.
      const deadlines = under.submitted.map(({ deadline }) => Number(deadline));
      expect(deadlines.every((deadline) => deadline <= Date.now() + millis)).to.equal(true);
      if (millis === 1_000) expect(deadlines).to.have.length(1);
    });
  }

  for (const [what, headers] of [
    [
      "200 KB of metadata",
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${String(n)}`, "a".repeat(2_000)])),
    ],
    ["500 pairs of metadata", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${String(n)}`, "a"]))],
  ] as const) {
    it(`refuses ${what}, and serves on`, async () => {
      const stream = open(headers);
      stream.on("error", () => undefined);
      stream.end(MINT_FRAME);
      await new Promise((resolve) => stream.once("close", resolve));
      expect(under.submitted).to.deep.equal([]);
      expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    });
  }

  it("serves on after 900 streams that were opened and dropped", async () => {
    for (let count = 0; count < 900; count += 1) {
      const stream = open();
      stream.on("error", () => undefined);
      stream.close(8);
    }
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
  });
});
