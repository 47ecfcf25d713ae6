import { connect, type Socket } from "node:net";

import type { GrpcCall } from "./calls.js";
import { grpcStatusIn } from "./hpack.js";
import * as http2 from "./http2-frames.js";
import type { Pace } from "./pace.js";
import type { CallInFlight, Tally } from "./tally.js";

const { Flag, FrameType, Setting } = http2;

const RECEIVE_WINDOW_BYTES = 2 ** 30;
/** No request of the benchmark is longer. */
const REQUEST_BYTES_MAX = 1_024;
const PACE_MILLIS = 1;
const NOTHING = Buffer.alloc(0);
const NO_MESSAGE = "OK without a message";

export interface ConnectionOptions {
  address: string;
  call: GrpcCall;
  /** The header block of every call, or a function that makes one for each call. */
  headers: Buffer | ((call: CallInFlight) => Buffer);
  /** Calls in flight on this connection. */
  inFlight: number;
  /** Absent: an answer starts the next call. */
  pace: Pace | undefined;
  tally: Tally;
}

interface OpenCall {
  call: CallInFlight;
  /** The cause why its message is wrong, undefined if it is right; NO_MESSAGE until it arrives. */
  problem: string | undefined;
}

/**
 * One HTTP/2 connection that keeps unary gRPC calls in flight, at a tenth of the cost of a general
 * client: all requests of a turn go out in one write, and of the headers only the status is read.
 * bench/README.md shows the cost of the clients that were tried.
 *
 * The connection obeys the server's windows and its limit of streams. It expects an answer of one
 * message in one DATA frame and trailers in one HEADERS frame, and counts any other as wrong.
 */
export class GrpcConnection {
  /** Resolves when the tally is closed and the last call is settled, or when the peer hangs up. */
  readonly done: Promise<void>;
  readonly #options: ConnectionOptions;
  readonly #calls = new Map<number, OpenCall>();
  readonly #reader = new http2.FrameReader();
  readonly #socket: Socket;
  #outgoing: Buffer[] = [];
  #okTrailers = NOTHING;
  #nextStreamId = 1;
  #sendWindow = http2.DEFAULT_WINDOW_BYTES;
  #streamsMax = Infinity;
  #receivedUnacknowledged = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** Connects. Calls start when the server's settings have come. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { hostname, port } = new URL(`http://${options.address}`);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on("data", (chunk) => {
      this.#onBytes(chunk);
    });
    this.#socket.on("error", (error) => {
      this.#break(error.message);
    });
    this.done = new Promise((resolve) => {
      this.#socket.on("close", () => {
        this.#break("the server closed the connection");
        resolve();
      });
    });
    this.#socket.write(http2.clientPreface(RECEIVE_WINDOW_BYTES));
  }

  #onBytes(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#onFrame(frame);
    } catch (error) {
      this.#break(`an unreadable answer: ${String(error)}`);
    }
    this.#turn();
  }

  /** Starts the calls that are due and have room at the server, and sends them in one write. */
  #turn(): void {
    const { tally, inFlight, pace } = this.#options;
    if (this.#isOver || this.#streamsMax === Infinity) return;
    const now = performance.now();
    while (tally.open && this.#calls.size < inFlight && this.#hasRoom() && pace?.isDue(now) !== false) {
      this.#start(tally.next(pace?.take(now) ?? now));
    }
    if (this.#outgoing.length > 0) this.#socket.write(Buffer.concat(this.#outgoing));
    this.#outgoing = [];
    if (!tally.open && this.#calls.size === 0) this.#end();
  }

  #hasRoom(): boolean {
    return this.#sendWindow >= REQUEST_BYTES_MAX && this.#calls.size < this.#streamsMax;
  }

  #start(call: CallInFlight): void {
    const message = this.#options.call.encode(call);
    const data = Buffer.allocUnsafe(5 + message.length);
    // gRPC's prefix: not compressed, and the message's length.
    data[0] = 0;
    data.writeUInt32BE(message.length, 1);
    data.set(message, 5);
    const streamId = this.#nextStreamId;
    const { headers } = this.#options;
    this.#outgoing.push(
      http2.frame(FrameType.HEADERS, Flag.END_HEADERS, streamId, Buffer.isBuffer(headers) ? headers : headers(call)),
      http2.frame(FrameType.DATA, Flag.END_STREAM, streamId, data),
    );
    this.#calls.set(streamId, { call, problem: NO_MESSAGE });
    this.#sendWindow -= data.length;
    this.#nextStreamId += 2;
  }

  #onFrame({ type, flags, streamId, payload }: http2.Frame): void {
    switch (type) {
      case FrameType.DATA:
        this.#onData(flags, streamId, payload);
        break;
      case FrameType.HEADERS:
        if ((flags & Flag.END_STREAM) !== 0) this.#settle(streamId, this.#problemInTrailers(flags, payload));
        break;
      case FrameType.WINDOW_UPDATE:
        if (streamId === 0) this.#sendWindow += payload.readUInt32BE() & 0x7fff_ffff;
        break;
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) === 0) this.#onSettings(payload);
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.#outgoing.push(http2.frame(FrameType.PING, Flag.ACK, 0, payload));
        break;
      case FrameType.RST_STREAM:
        this.#settle(streamId, `the stream was reset with error ${String(payload.readUInt32BE())}`);
        break;
      case FrameType.GOAWAY:
        this.#break(`GOAWAY with error ${String(payload.readUInt32BE(4))}: ${payload.toString("latin1", 8)}`);
        break;
      case FrameType.CONTINUATION:
        this.#break("headers that do not fit into one frame");
        break;
      default:
    }
  }

  #onSettings(payload: Buffer): void {
    const { inFlight, pace } = this.#options;
    this.#streamsMax = http2.readSettings(payload).get(Setting.MAX_CONCURRENT_STREAMS) ?? 2 ** 32;
    this.#outgoing.push(http2.frame(FrameType.SETTINGS, Flag.ACK, 0, NOTHING));
    if (inFlight > this.#streamsMax) this.#break(`the server takes only ${String(this.#streamsMax)} calls at a time`);
    // The next call may be due long before the next answer.
    if (pace !== undefined) {
      this.#timer ??= setInterval(() => {
        this.#turn();
      }, PACE_MILLIS);
    }
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    this.#replenish(payload.length);
    const open = this.#calls.get(streamId);
    if (open === undefined || payload.length === 0) return;
    const isWhole = payload.readUInt32BE(1) === payload.length - 5 && (flags & Flag.PADDED) === 0;
    if (open.problem === NO_MESSAGE && isWhole) {
      open.problem = this.#options.call.check(payload.subarray(5), open.call);
    } else open.problem = "an answer that is not one message in one frame";
    if ((flags & Flag.END_STREAM) !== 0) this.#settle(streamId, "an answer without trailers");
  }

  /** Reads trailers, unless they have the bytes of the last ones that said OK. */
  #problemInTrailers(flags: number, block: Buffer): string | undefined {
    if (block.equals(this.#okTrailers)) return undefined;
    if ((flags & (Flag.PADDED | Flag.PRIORITY)) !== 0) return "trailers with padding or a priority";
    const status = grpcStatusIn(block);
    if (status === "0") this.#okTrailers = Buffer.from(block);
    return status === "0" ? undefined : `grpc-status ${status ?? "is missing"}`;
  }

  /** Ends a call. A call without a `problem` of its own is as good as its message. */
  #settle(streamId: number, problem: string | undefined): void {
    const open = this.#calls.get(streamId);
    if (open === undefined) return;
    this.#calls.delete(streamId);
    this.#options.tally.settle(open.call, performance.now(), problem ?? open.problem);
  }

  /** Gives the server back its window before it runs out. */
  #replenish(bytes: number): void {
    this.#receivedUnacknowledged += bytes;
    if (this.#receivedUnacknowledged < RECEIVE_WINDOW_BYTES / 2) return;
    this.#outgoing.push(http2.windowUpdate(this.#receivedUnacknowledged));
    this.#receivedUnacknowledged = 0;
  }

  /** Blames the calls in flight, and ends the connection. */
  #break(problem: string): void {
    if (!this.#isOver) this.#options.tally.blame(problem, Math.max(1, this.#calls.size));
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#socket.destroy();
  }
}
