import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect } from "chai";

import { encodeFields, grpcStatusIn } from "../../../bench/load/hpack.js";
import { clientPreface, Flag, frame, FrameReader, FrameType } from "../../../bench/load/http2-frames.js";
import { MintRequest, TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { eventually } from "../../support/eventually.js";
import { MINT, SECRET, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

const STREAM = 1;
const CANCEL = Buffer.of(0, 0, 0, 8);
const WINDOW_BYTES = 1_000_000;
const TOO_MANY_BYTES = 1_000_000;

const FIELDS = {
  ":method": "POST",
  ":scheme": "http",
  ":path": rpcs.mint.path,
  ":authority": "kesc",
  te: "trailers",
  "content-type": "application/grpc",
  "x-api-key": SECRET,
};
const headers = (changes: Readonly<Record<string, string>> = {}, flags = 0): Buffer =>
  frame(
    FrameType.HEADERS,
    Flag.END_HEADERS | flags,
    STREAM,
    encodeFields(Object.entries<string>({ ...FIELDS, ...changes })),
  );
const data = (bytes: Uint8Array): Buffer => frame(FrameType.DATA, 0, STREAM, bytes);
const last = (bytes: Uint8Array): Buffer => frame(FrameType.DATA, Flag.END_STREAM, STREAM, bytes);
const padded = (bytes: Uint8Array): Buffer =>
  frame(FrameType.DATA, Flag.PADDED, STREAM, Buffer.concat([Buffer.of(200), bytes, Buffer.alloc(200)]));
const reset = frame(FrameType.RST_STREAM, 0, STREAM, CANCEL);
const trailers = frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, STREAM, encodeFields([["x-a", "b"]]));
const noBytes = Buffer.alloc(0);

const BYTES = MintRequest.encode(MINT).finish();
const message = (flag = 0, length = BYTES.length): Buffer => {
  const prefix = Buffer.of(flag, 0, 0, 0, 0);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, BYTES]);
};
const WHOLE = message();
const HALF = WHOLE.subarray(0, 20);
const eachByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => data(Buffer.of(byte)));

const DONE = ["0", undefined] as const;
const MALFORMED = ["3", "MALFORMED_REQUEST"] as const;
const TOO_LARGE = ["3", "REQUEST_TOO_LARGE"] as const;
const UNSUPPORTED = ["12", "UNSUPPORTED_COMPRESSION"] as const;
const NO_RPC = ["12", "NO_SUCH_RPC"] as const;

type Outcome = readonly [status: string, reason: string | undefined];
type Row = readonly [what: string, frames: readonly Buffer[], outcome: Outcome];
const ROWS: readonly Row[] = [
  ["in one frame", [headers(), last(WHOLE)], DONE],
  ["one byte in each frame", [headers(), ...eachByte(WHOLE), last(noBytes)], DONE],
  ["in padded frames", [headers(), padded(HALF), padded(WHOLE.subarray(20)), last(noBytes)], DONE],
  ["that ends with trailers", [headers(), data(WHOLE), trailers], DONE],
  [
    "whose headers are in two frames",
    [
      frame(FrameType.HEADERS, 0, STREAM, encodeFields(Object.entries<string>(FIELDS))),
      frame(FrameType.CONTINUATION, Flag.END_HEADERS, STREAM, encodeFields([["x-a", "b"]])),
      last(WHOLE),
    ],
    DONE,
  ],
  ...["GET", "PUT", "DELETE", "HEAD"].map((method): Row => [
    `with the method ${method}`,
    [headers({ ":method": method }), last(WHOLE)],
    MALFORMED,
  ]),
  ...["application/grpc+json", "application/grpc-web", "application/grpcx", "application/json"].map((type): Row => [
    `with the content type ${type}`,
    [headers({ "content-type": type }), last(WHOLE)],
    MALFORMED,
  ]),
  ...["5", "5s", "-1S", "123456789S", "soon"].map((timeout): Row => [
    `with the timeout ${timeout}`,
    [headers({ "grpc-timeout": timeout }), last(WHOLE)],
    MALFORMED,
  ]),
  ...[1, 2, 255].map((flag): Row => [`with the flag ${String(flag)}`, [headers(), last(message(flag))], MALFORMED]),
  ["with an unknown compression", [headers({ "grpc-encoding": "br" }), last(message(1))], UNSUPPORTED],
  ["to an unknown path", [headers({ ":path": "/kesc.v1.TransactionService/Mint/" }), last(WHOLE)], NO_RPC],
  ["that ends with its headers", [headers({}, Flag.END_STREAM)], MALFORMED],
  ["that ends with an empty frame", [headers(), last(noBytes)], MALFORMED],
  ["that ends in its middle", [headers(), last(HALF)], MALFORMED],
  ["that ends in its middle with an empty frame", [headers(), data(HALF), last(noBytes)], MALFORMED],
  ["that ends in its middle with trailers", [headers(), data(HALF), trailers], MALFORMED],
  ["whose length is a byte too small", [headers(), last(message(0, BYTES.length - 1))], MALFORMED],
  ["whose length is a byte too large", [headers(), last(message(0, BYTES.length + 1))], MALFORMED],
  ["with a stray byte in the same frame", [headers(), last(Buffer.concat([WHOLE, Buffer.of(0)]))], MALFORMED],
  ["with a stray byte in a frame of its own", [headers(), data(WHOLE), last(Buffer.of(0))], MALFORMED],
  ["with a stray byte before trailers", [headers(), data(WHOLE), data(Buffer.of(0)), trailers], MALFORMED],
  ["sent twice", [headers(), data(WHOLE), last(WHOLE)], MALFORMED],
  ["that is too large, as soon as it says so", [headers(), data(message(0, TOO_MANY_BYTES))], TOO_LARGE],
  ["with a bad flag, before it ends", [headers(), data(Buffer.of(2))], MALFORMED],
];

describe("grpc: a mint, frame by frame", () => {
  let under: ServerUnderTest;
  let socket: Socket;
  beforeEach(async () => {
    under = await serve();
    const [host, port] = under.server.address.split(":");
    socket = connect(Number(port), host).on("error", () => undefined);
    await once(socket, "connect");
    socket.write(clientPreface(WINDOW_BYTES));
  });
  afterEach(async () => {
    socket.destroy();
    await under.close();
  });

  /** Sends each frame in a packet of its own. Resolves with the status that ends the stream. */
  async function statusOf(frames: readonly Buffer[]): Promise<string | undefined> {
    const reader = new FrameReader();
    const ended = new Promise<string | undefined>((resolve) => {
      socket.on("data", (chunk: Buffer) => {
        for (const { type, flags, streamId, payload } of reader.read(chunk)) {
          if (streamId !== STREAM || (flags & Flag.END_STREAM) === 0) continue;
          resolve(type === FrameType.HEADERS ? grpcStatusIn(payload) : undefined);
        }
      });
    });
    for (const bytes of frames) await new Promise((resolve) => socket.write(bytes, resolve));
    return ended;
  }

  async function expectServed(): Promise<void> {
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(0);
  }

  for (const [what, frames, [status, reason]] of ROWS) {
    it(`${what} is ${reason === undefined ? "done once" : `${reason}, without an effect`}`, async () => {
      expect(await statusOf(frames)).to.equal(status);
      await eventually(() => under.lines.some((line) => line["reason"] === reason));
      await expectServed();
      expect(under.submitted).to.have.length(reason === undefined ? 2 : 1);
    });
  }

  for (const [what, frames] of [
    ["before its message", [headers(), reset]],
    ["in the middle of its message", [headers(), data(HALF), reset]],
    ["after its message", [headers(), data(WHOLE), reset]],
    ["in one packet with its message", [Buffer.concat([headers(), data(WHOLE), reset])]],
  ] as const) {
    it(`that is reset ${what} has no effect`, async () => {
      for (const bytes of frames) await new Promise((resolve) => socket.write(bytes, resolve));
      await expectServed();
      socket.end();
      await expectServed();
      expect(under.submitted).to.have.length(2);
    });
  }
});
