import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";

import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import {
  ImportTransactionsRequest,
  MintRequest,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { eventually } from "../../support/eventually.js";
import { MINT, SECRET, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";

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
    const given = {
      ":method": "POST",
      ":path": rpcs.mint.path,
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": SECRET,
      ...headers,
    };
    // Node would send GET without a body.
    return session.request(given, { endStream: false });
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

  /** The status of a call, and the reason in its details. */
  async function refusalOf(stream: ClientHttp2Stream): Promise<{ code: unknown; reason: string | undefined }> {
    const heard = await ending(stream);
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from(String(heard["grpc-status-details-bin"]), "base64"));
    return { code: Number(heard["grpc-status"]), reason: detailsOf(metadata).reason };
  }

  const frame = (message: Buffer, flag = 0): Buffer => {
    const prefix = Buffer.of(flag, 0, 0, 0, 0);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
  };
  const MINT_BYTES = Buffer.from(MintRequest.encode(MINT).finish());
  const MINT_FRAME = frame(MINT_BYTES);
  const IMPORT_BYTES = Buffer.from(
    ImportTransactionsRequest.encode({
      requests: [{ movement: { $case: "mint", value: MINT }, idempotency_key: "" }],
    }).finish(),
  );

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

  const MALFORMED = [Status.INVALID_ARGUMENT, "MALFORMED_REQUEST"] as const;
  const INVALID = [Status.INVALID_ARGUMENT, "INVALID_FIELD"] as const;
  const TOO_LARGE = [Status.INVALID_ARGUMENT, "REQUEST_TOO_LARGE"] as const;
  const UNSUPPORTED = [Status.UNIMPLEMENTED, "UNSUPPORTED_COMPRESSION"] as const;
  const NO_RPC = [Status.UNIMPLEMENTED, "NO_SUCH_RPC"] as const;
  const NO_KEY = [Status.UNAUTHENTICATED, "MISSING_API_KEY"] as const;
  const BAD_KEY = [Status.UNAUTHENTICATED, "INVALID_API_KEY"] as const;

  const bomb = Buffer.alloc(5_000_000);
  const IMPORT = rpcs.importTransactions.path;
  type Row = readonly [
    what: string,
    headers: OutgoingHttpHeaders,
    body: Buffer,
    refusal: readonly [code: Status, reason: string],
  ];
  const ROWS: readonly Row[] = [
    ...["GET", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"].map((method): Row => [
      `the method ${method}`,
      { ":method": method },
      MINT_FRAME,
      MALFORMED,
    ]),
    ...[
      ...["application/grpc+json", "application/grpc-web", "application/grpc-web+proto", "application/grpcx"],
      ...["application/grpc+protobuf", "application/json", "application/grpc/proto", ""],
    ].map((type): Row => [`the content type "${type}"`, { "content-type": type }, MINT_FRAME, MALFORMED]),
    ...["", "5", "soon", "5s", "5 S", "5SS", "-1S", "+1S", "1.5S", "123456789S", "S", "0x1S", ["5S", "6S"]].map(
      (timeout): Row => [`the timeout ${JSON.stringify(timeout)}`, { "grpc-timeout": timeout }, MINT_FRAME, MALFORMED],
    ),
    ...[2, 3, 128, 255].map((flag): Row => [`the flag ${String(flag)}`, {}, frame(MINT_BYTES, flag), MALFORMED]),
    ["a compressed message without an encoding", {}, frame(gzipSync(MINT_BYTES), 1), MALFORMED],
    ["an uncompressed message that says it is compressed", {}, frame(MINT_BYTES, 1), MALFORMED],
    ["a compressed message of identity", { "grpc-encoding": "identity" }, frame(MINT_BYTES, 1), MALFORMED],
    ["gzip that is none", { "grpc-encoding": "gzip" }, frame(MINT_BYTES, 1), MALFORMED],
    ["a compression that nobody knows", { "grpc-encoding": "br" }, frame(MINT_BYTES, 1), UNSUPPORTED],
    ["a gzip of 5 MB of zeros", { "grpc-encoding": "gzip" }, frame(gzipSync(bomb), 1), TOO_LARGE],
    ["the same as deflate", { "grpc-encoding": "deflate" }, frame(deflateSync(bomb), 1), TOO_LARGE],
    ["a gzip of 2 KB of zeros", { "grpc-encoding": "gzip" }, frame(gzipSync(Buffer.alloc(2_000)), 1), TOO_LARGE],
    ["a request that is too large", {}, frame(Buffer.alloc(1_001)), TOO_LARGE],
    ["a length of 4 GiB", {}, Buffer.concat([Buffer.of(0, 255, 255, 255, 255), MINT_BYTES]), TOO_LARGE],
    ["no message", {}, Buffer.alloc(0), MALFORMED],
    ["half a prefix", {}, MINT_FRAME.subarray(0, 3), MALFORMED],
    ["a prefix alone", {}, MINT_FRAME.subarray(0, 5), MALFORMED],
    ["half a message", {}, MINT_FRAME.subarray(0, 20), MALFORMED],
    ["one byte after the message", {}, Buffer.concat([MINT_FRAME, Buffer.of(0)]), MALFORMED],
    ["five bytes after the message", {}, Buffer.concat([MINT_FRAME, Buffer.alloc(5)]), MALFORMED],
    ["two messages", {}, Buffer.concat([MINT_FRAME, MINT_FRAME]), MALFORMED],
    ["ten thousand messages of nothing", {}, Buffer.alloc(50_000), MALFORMED],
    ["a stream with the flag 2", { ":path": IMPORT }, frame(IMPORT_BYTES, 2), MALFORMED],
    ["a stream of half a message", { ":path": IMPORT }, frame(IMPORT_BYTES).subarray(0, 20), MALFORMED],
    ["a stream with gzip that is none", { ":path": IMPORT, "grpc-encoding": "gzip" }, frame(MINT_BYTES, 1), MALFORMED],
    ["a stream with a message that is too large", { ":path": IMPORT }, Buffer.of(0, 0, 255, 0, 0), TOO_LARGE],
    ["a health check with a byte too many", { ":path": HEALTH_CHECK }, Buffer.alloc(6), MALFORMED],
    ["a health check of noise", { ":path": HEALTH_CHECK }, frame(Buffer.alloc(9, 0xff)), MALFORMED],
    [
      "half a surrogate pair in a text",
      {},
      frame(Buffer.concat([MINT_BYTES, Buffer.of(0x1a, 3, 0xed, 0xa0, 0x80)])),
      INVALID,
    ],
    [
      "bytes that are not UTF-8 in a text",
      {},
      frame(Buffer.concat([MINT_BYTES, Buffer.of(0x22, 2, 0xff, 0xfe)])),
      INVALID,
    ],
    ["NUL in a text", {}, frame(Buffer.concat([MINT_BYTES, Buffer.of(0x1a, 3, 0x41, 0, 0x41)])), INVALID],
    ["groups in groups without end", {}, frame(Buffer.alloc(900, 0x0b)), INVALID],
    ["a number without end", {}, frame(Buffer.alloc(20, 0xff)), INVALID],
    ["a field that is longer than the message", {}, frame(Buffer.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)), INVALID],
    ["an unknown rpc", { ":path": "/kesc.v1.TransactionService/Print" }, MINT_FRAME, NO_RPC],
    ["a path past ASCII", { ":path": "/kesc.v1.TransactionService/Mint\u00ff" }, MINT_FRAME, NO_RPC],
    ["a path of 30 KB", { ":path": `/${"x".repeat(30_000)}` }, MINT_FRAME, NO_RPC],
    ["a path that every object has", { ":path": "/constructor" }, MINT_FRAME, NO_RPC],
    ["a key past ASCII", { "x-api-key": "kesc_\u00ff" }, MINT_FRAME, NO_KEY],
    ["another key", { "x-api-key": `${SECRET}x` }, MINT_FRAME, BAD_KEY],
  ];
  for (const [what, headers, body, [code, reason]] of ROWS) {
    it(`refuses ${what} with ${reason}, does nothing, and serves on`, async () => {
      const stream = open(headers);
      stream.end(body);
      expect(await refusalOf(stream)).to.deep.equal({ code, reason });
      expect(under.submitted).to.deep.equal([]);
      expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
      expect(under.lines.filter(({ code: logged }) => logged === "INTERNAL")).to.deep.equal([]);
    });
  }

  it("says 415 to a client that does not speak gRPC", async () => {
    const stream = open({ "content-type": "application/json" });
    stream.end("{}");
    expect(await ending(stream)).to.include({ ":status": 415 });
  });

  it("ends a refused call whose request goes on", async () => {
    const stream = open();
    stream.write(frame(MINT_BYTES, 2));
    const closed = once(stream, "close");
    expect(await refusalOf(stream)).to.include({ reason: "MALFORMED_REQUEST" });
    await closed;
    expect(stream.rstCode).to.equal(0);
  });

  it("refuses a stream in its middle, after the responses that it has sent", async () => {
    const stream = open({ ":path": IMPORT });
    stream.write(frame(IMPORT_BYTES));
    await eventually(() => under.submitted.length === 1);
    stream.write(frame(IMPORT_BYTES, 2));
    expect(await refusalOf(stream)).to.include({ reason: "MALFORMED_REQUEST" });
    expect(under.submitted).to.have.length(1);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
  });

  for (const [what, headers, body] of [
    ["the content type application/grpc+proto", { "content-type": "application/grpc+proto" }, MINT_FRAME],
    ["a content type with a parameter", { "content-type": "application/grpc; charset=utf-8" }, MINT_FRAME],
    ["a timeout that no timer can hold", { "grpc-timeout": "99999999H" }, MINT_FRAME],
    ["gzip", { "grpc-encoding": "gzip" }, frame(gzipSync(MINT_BYTES), 1)],
    ["deflate", { "grpc-encoding": "deflate" }, frame(deflateSync(MINT_BYTES), 1)],
    ["an uncompressed message beside an encoding", { "grpc-encoding": "gzip" }, MINT_FRAME],
  ] as const) {
    it(`takes ${what}`, async () => {
      const stream = open(headers);
      stream.end(body);
      expect(await ending(stream)).to.include({ "grpc-status": "0" });
      expect(under.submitted).to.have.length(1);
    });
  }

  it("takes a request that comes one byte at a time", async () => {
    const stream = open();
    for (const byte of MINT_FRAME) stream.write(Buffer.of(byte));
    stream.end();
    expect(await ending(stream)).to.include({ "grpc-status": "0" });
  });

  it("says that the outcome is unknown when the deadline passes while a call is done", async () => {
    const slow = await serve({ submit: () => new Promise(() => undefined) });
    const other = connect(`http://${slow.server.address}`);
    const stream = other.request({
      ":method": "POST",
      ":path": rpcs.mint.path,
      "content-type": "application/grpc",
      "x-api-key": SECRET,
      "grpc-timeout": "200m",
    });
    stream.end(MINT_FRAME);
    expect(await refusalOf(stream)).to.deep.equal({ code: Status.DEADLINE_EXCEEDED, reason: "OUTCOME_UNKNOWN" });
    other.destroy();
    slow.grpc.close();
    await slow.server.stop(100).catch(() => undefined);
  });

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
