import { connect, type Socket } from "node:net";

import { TransactionServiceService as rpcs } from "../../src/gen/kesc/v1/transaction_service.js";
import { headersOf } from "../load/grpc-load.js";
import { clientPreface, Flag, frame, FrameType } from "../load/http2-frames.js";
import type { Attack } from "./attack.js";

const CONNECTIONS = 40;
const REST_CONNECTIONS = 400;
const IDLE_CONNECTIONS = 5_000;
const CALLS_ON_A_CONNECTION = 1_000;
/** Some 100,000 events of a mint. */
const STREAM_BYTES = 64 * 1_024 * 1_024;
const WINDOW_BYTES = 2 ** 30;
const CANCEL = Buffer.of(0, 0, 0, 8);
const RECONNECT_MILLIS = 10;
/** All calls of a connection fit into its first window. */
const UNFINISHED_BYTES = 60;

/** Opens connections, and opens each again when the server closes it. */
function connections(address: string, count: number, use: (socket: Socket) => void): void {
  const { hostname, port } = new URL(`http://${address}`);
  const open = (): void => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.on("error", () => undefined);
    socket.once("close", () => setTimeout(open, RECONNECT_MILLIS));
    socket.once("connect", () => {
      use(socket);
    });
  };
  for (let opened = 0; opened < count; opened++) open();
}

/** Begins as many calls as a connection may have. Each is `frames` of a stream. */
function calls({ hostile }: Attack, frames: (streamId: number, headers: Buffer) => readonly Buffer[]): void {
  const { grpcAddress: address, keys } = hostile;
  const block = headersOf({ address, path: rpcs.batchCreateTransactions.path, apiKey: keys[0] });
  connections(address, CONNECTIONS, (socket) => {
    socket.resume();
    socket.write(clientPreface(WINDOW_BYTES));
    socket.write(frame(FrameType.SETTINGS, Flag.ACK, 0, Buffer.alloc(0)));
    for (let index = 0; index < CALLS_ON_A_CONNECTION; index++) {
      const streamId = 2 * index + 1;
      const headers = frame(FrameType.HEADERS, Flag.END_HEADERS, streamId, block);
      socket.write(Buffer.concat([headers, ...frames(streamId, block)]));
    }
  });
}

/** Sends headers and no more. */
export function slowRequests(attack: Attack): void {
  calls(attack, () => []);
}

/** Sends the beginning of a large request, and never its end. */
export function unfinishedRequests(attack: Attack): void {
  const bytes = Buffer.concat([Buffer.of(0, 0, 15, 0, 0), Buffer.alloc(UNFINISHED_BYTES)]);
  calls(attack, (streamId) => [frame(FrameType.DATA, 0, streamId, bytes.subarray(0, UNFINISHED_BYTES))]);
}

/** Sends whole calls and cancels each at once. */
export function rapidReset(attack: Attack): void {
  const message = Buffer.alloc(5);
  calls(attack, (streamId) => [
    frame(FrameType.DATA, Flag.END_STREAM, streamId, message),
    frame(FrameType.RST_STREAM, 0, streamId, CANCEL),
  ]);
}

export function idleConnections({ hostile }: Attack): void {
  connections(hostile.grpcAddress, IDLE_CONNECTIONS, (socket) => {
    socket.resume();
    socket.write(clientPreface(WINDOW_BYTES));
  });
}

/** Keeps one request in flight on each connection. Any answer starts the next one. */
export function restFlood({ hostile, tally }: Attack, request: () => string): void {
  connections(hostile.httpAddress, REST_CONNECTIONS, (socket) => {
    let call = tally.next(performance.now());
    socket.write(request());
    socket.on("data", (bytes: Buffer) => {
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(bytes.toString("latin1", 0, 20)) ?? [];
      // The rest of a long answer.
      if (status === undefined) return;
      tally.settle(call, performance.now(), status === "200" ? undefined : `HTTP ${status}`);
      call = tally.next(performance.now());
      socket.write(request());
    });
  });
}

/** Streams the book from its beginning on each connection, again and again. */
export function restStreams({ hostile, tally }: Attack): void {
  const head = "GET /events HTTP/1.1\r\nHost: kesc\r\nAccept: application/x-ndjson\r\n";
  // The first key has the scopes of older builds, and the last one has all.
  const key = hostile.keys.at(-1) ?? hostile.keys[0];
  connections(hostile.httpAddress, CONNECTIONS, (socket) => {
    const call = tally.next(performance.now());
    let status: string | undefined;
    let bytesLeft = STREAM_BYTES;
    socket.write(`${head}X-API-Key: ${key}\r\n\r\n`);
    socket.on("data", (bytes: Buffer) => {
      status ??= /^HTTP\/1\.1 (\d+)/.exec(bytes.toString("latin1", 0, 20))?.[1] ?? "";
      bytesLeft -= bytes.length;
      if (socket.destroyed || (status === "200" && bytesLeft > 0)) return;
      tally.settle(call, performance.now(), status === "200" ? undefined : `HTTP ${status}`);
      socket.destroy();
    });
  });
}
