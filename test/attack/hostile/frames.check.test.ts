import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { encodeFields } from "../../../bench/load/hpack.js";
import { Flag, frame, FrameType, windowUpdate } from "../../../bench/load/http2-frames.js";
import { MintRequest, TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import {
  emptyReads,
  MINT,
  SECRET,
  serve,
  type ServerUnderTest,
  transaction,
} from "../../support/service/grpc-server.js";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const PRIORITY = 2;
const CANCEL = 8;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const settings = (...pairs: [id: number, value: number][]): Buffer => {
  const payload = pairs.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]));
  return frame(FrameType.SETTINGS, 0, 0, Buffer.concat(payload));
};
const fieldsOf = (path: string): Buffer =>
  encodeFields([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "kesc"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ["x-api-key", SECRET],
  ]);
const MINT_FIELDS = fieldsOf(rpcs.mint.path);
const headers = (stream: number, fields = MINT_FIELDS): Buffer =>
  frame(FrameType.HEADERS, Flag.END_HEADERS, stream, fields);
const reset = (stream: number): Buffer => frame(FrameType.RST_STREAM, 0, stream, uint32(CANCEL));
const message = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(0), uint32(bytes.length), bytes]);
const wholeCall = (stream: number, fields: Buffer, request: Uint8Array): Buffer =>
  Buffer.concat([headers(stream, fields), frame(FrameType.DATA, Flag.END_STREAM, stream, message(request))]);
const MINT_BYTES = MintRequest.encode(MINT).finish();
/** A key can have so many lists in flight. */
const LISTS_AT_ONCE = 8;
const odd = (index: number): number => index * 2 + 1;

describe("grpc: clients that break the rules of HTTP/2", () => {
  let under: ServerUnderTest;
  let socket: Socket;
  let closed: Promise<void>;
  let pagesRead: number;
  beforeEach(async () => {
    pagesRead = 0;
    const largePage = Array.from({ length: 200 }, () => transaction({ description: "x".repeat(5_000) as never }));
    under = await serve({
      reads: {
        ...emptyReads,
        transactions: async () => {
          pagesRead += 1;
          return Promise.resolve({ rows: largePage, nextBeforeSeq: undefined, lookedAt: 1 });
        },
      },
    });
    const [host, port] = under.server.address.split(":");
    socket = connect(Number(port), host)
      .on("error", () => undefined)
      .resume();
    closed = new Promise((resolve) =>
      socket.once("close", () => {
        resolve();
      }),
    );
  });
  afterEach(async () => {
    socket.destroy();
    await under.close();
  });

  /** Sends `count` frames as fast as the server takes them, until it closes the connection. */
  async function flood(count: number, make: (index: number) => Buffer): Promise<void> {
    for (let sent = 0; sent < count && !socket.destroyed; sent += 1_000) {
      const part = Array.from({ length: Math.min(1_000, count - sent) }, (_, index) => make(sent + index));
      if (!socket.write(Buffer.concat(part))) {
        await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed, served()]);
      }
    }
  }

  /** Checks that the server serves another client. */
  async function served(): Promise<void> {
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
  }

  const start = (): boolean => socket.write(Buffer.concat([PREFACE, settings()]));

  for (const [what, bytes] of [
    ["HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\nHost: kesc\r\n\r\n")],
    ["TLS", Buffer.concat([Buffer.from("1603010200010001fc0303", "hex"), Buffer.alloc(500, 1)])],
    ["settings out of range", Buffer.concat([PREFACE, settings([4, 0xffff_ffff])])],
    ["a frame size of nothing", Buffer.concat([PREFACE, settings([5, 0])])],
    ["a stream with an even number", Buffer.concat([PREFACE, settings(), headers(2)])],
    ["a window that grows by nothing", Buffer.concat([PREFACE, settings(), windowUpdate(0)])],
    [
      "a window past its limit",
      Buffer.concat([PREFACE, settings(), windowUpdate(0x7fff_ffff), windowUpdate(0x7fff_ffff)]),
    ],
  ] as const) {
    it(`closes a connection that speaks ${what}, and serves others`, async () => {
      socket.write(bytes);
      await closed;
      await served();
    });
  }

  for (const [what, bytes] of [
    ["noise", Buffer.alloc(100_000, 0xff)],
    ["a frame that is too large", frame(FrameType.DATA, 0, 1, Buffer.alloc(20_000))],
    ["data on no stream", frame(FrameType.DATA, 0, 0, Buffer.alloc(10))],
    ["data on a stream that is not open", frame(FrameType.DATA, 0, 99, Buffer.alloc(10))],
    ["headers that cannot be read", frame(FrameType.HEADERS, Flag.END_HEADERS, 1, Buffer.alloc(50, 0xff))],
  ] as const) {
    it(`sends GOAWAY to a connection that sends ${what}, and serves others`, async () => {
      const goodbye = new Promise<void>((resolve) => {
        socket.on("data", (received: Buffer) => {
          if (received.includes(Buffer.of(FrameType.GOAWAY, 0, 0, 0, 0, 0))) resolve();
        });
      });
      start();
      socket.write(bytes);
      await goodbye;
      await served();
    });
  }

  for (const [what, count, make] of [
    ["SETTINGS", 10_000, () => settings()],
    ["changing settings", 10_000, (index: number) => settings([1, index % 2 === 0 ? 0 : 4_096])],
    ["PING", 10_000, () => frame(FrameType.PING, 0, 0, Buffer.alloc(8))],
    ["CONTINUATION", 1_000, () => frame(FrameType.CONTINUATION, 0, 1, encodeFields([["x", "y"]]))],
    ["empty CONTINUATION", 1_000, () => frame(FrameType.CONTINUATION, 0, 1, Buffer.alloc(0))],
    ["empty DATA", 10_000, () => frame(FrameType.DATA, 0, 1, Buffer.alloc(0))],
    ["streams past the limit", 4_000, (index: number) => headers(odd(index + 1))],
  ] as const) {
    it(`closes a connection that floods it with ${what}, and serves others meanwhile`, async () => {
      start();
      const opens = what.includes("CONTINUATION") ? frame(FrameType.HEADERS, 0, 1, MINT_FIELDS) : headers(1);
      if (/CONTINUATION|DATA/.test(what)) socket.write(opens);
      await Promise.all([flood(count, make), served()]);
      await closed;
      await served();
    });
  }

  for (const [what, make] of [
    ["PRIORITY", (index: number) => frame(PRIORITY, 0, odd(index), Buffer.concat([uint32(0), Buffer.of(1)]))],
    ["WINDOW_UPDATE", () => windowUpdate(1)],
  ] as const) {
    it(`bears a flood of ${what}, and serves others meanwhile`, async () => {
      start();
      await Promise.all([flood(20_000, make), served()]);
      await served();
    });
  }

  it("does not do all calls of a rapid reset attack (CVE-2023-44487)", async () => {
    start();
    const calls = 20_000;
    await Promise.all([
      flood(calls, (index) => Buffer.concat([wholeCall(odd(index), MINT_FIELDS, MINT_BYTES), reset(odd(index))])),
      served(),
    ]);
    await served();
    expect(under.submitted.length).to.be.lessThan(calls);
  });

  it("starts no call of streams that are opened and reset", async () => {
    start();
    await flood(2_000, (index) => Buffer.concat([headers(odd(index)), reset(odd(index))]));
    await served();
    expect(under.submitted).to.have.length.within(1, 20);
  });

  it("holds a bounded number of responses for a connection that reads none, then closes it", async () => {
    // Without a window the server can send no response.
    socket.write(Buffer.concat([PREFACE, settings([4, 0])]));
    const everything = new Uint8Array();
    const fields = fieldsOf(rpcs.listTransactions.path);
    // 400 responses of a megabyte each, a few at a time: the client only sees a refusal after other
    // responses.
    for (let index = 0; index < 400 && !socket.destroyed; index += LISTS_AT_ONCE) {
      const calls = Array.from({ length: LISTS_AT_ONCE }, (_, more) =>
        wholeCall(odd(index + more), fields, everything),
      );
      const before = pagesRead;
      socket.write(Buffer.concat(calls));
      await served();
      // A refused call reads no page, so the wait has an end.
      for (let turn = 0; turn < 20 && pagesRead < before + LISTS_AT_ONCE; turn += 1) {
        await sleep(10);
      }
    }
    await closed;
    await served();
  });
});
