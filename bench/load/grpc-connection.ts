import { connect, type Socket } from "node:net";

import type { AnswerCheck } from "./grpc-calls.js";
import type { GrpcRequest } from "./grpc-request.js";
import { StatusReader } from "./grpc-status.js";
import * as http2 from "./http2-frames.js";
import type { CallInFlight } from "./tally.js";

const RECEIVE_WINDOW_BYTES = 2 ** 30;
const OUTBOX_BYTES = 256 * 1024;
const INBOX_BYTES = 256 * 1024;

/** What a connection needs to know, and whom it tells. */
export interface ConnectionOptions {
  address: string;
  check: AnswerCheck;

  /** A call has ended: right when there is no `problem`. */
  onSettled: (call: CallInFlight, problem: string | undefined) => void;

  /** All frames that had arrived are read: the moment to start more calls and to flush. */
  onTurn: () => void;

  /** The connection is of no more use; its calls in flight are lost. */
  onBroken: (problem: string) => void;
}

interface OpenCall {
  call: CallInFlight;
  /** What is wrong with its message, undefined if nothing is; NO_MESSAGE until one has arrived. */
  problem: string | undefined;
}

const NO_MESSAGE = "OK without a message";

/**
 * One HTTP/2 connection that carries unary gRPC calls, as cheaply as it can: requests are copied
 * from prepared bytes, answers are read where they lie, and everything that one turn has to say
 * goes out in one write.
 *
 * It keeps to the server's windows and to its limit of streams. An answer is one message in one
 * DATA frame and trailers in one HEADERS frame; a server that splits them is within its rights, but
 * here its answers count as wrong.
 */
export class GrpcConnection {
  readonly #options: ConnectionOptions;
  readonly #status = new StatusReader();
  readonly #calls = new Map<number, OpenCall>();
  readonly #outbox = Buffer.alloc(OUTBOX_BYTES);
  readonly #reader: http2.FrameReader;
  readonly #socket: Socket;
  #outboxUsed = 0;
  #nextStreamId = 1;
  #sendWindow = http2.DEFAULT_WINDOW_BYTES;
  #streamWindow = http2.DEFAULT_WINDOW_BYTES;
  #streamsMax = Infinity;
  #receivedUnacknowledged = 0;
  #greeted = false;
  #broken = false;

  /** Connects. The first `onTurn` comes when the server's settings are known. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#reader = new http2.FrameReader(this.#onFrame.bind(this));
    const { hostname, port } = new URL(`http://${options.address}`);
    const onread = { buffer: Buffer.alloc(INBOX_BYTES), callback: this.#onBytes.bind(this) };
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
    this.#socket.on("error", (error) => {
      this.#break(error.message);
    });
    this.#socket.on("close", () => {
      this.#break("the server closed the connection");
    });
    this.#send(http2.clientPreface(RECEIVE_WINDOW_BYTES));
    this.flush();
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  /** How many calls the server takes at a time; known from the first turn on. */
  get streamsMax(): number {
    return this.#streamsMax;
  }

  /** Whether the server's windows and limits have room now for a call with so much data. */
  hasRoomFor(dataBytes: number): boolean {
    return !this.#broken && dataBytes <= this.#sendWindow && this.#calls.size < this.#streamsMax;
  }

  /** Queues a call for which there is room, for the next flush. */
  start(call: CallInFlight, request: GrpcRequest): void {
    this.#makeRoom(request.length);
    request.write(this.#outbox, this.#outboxUsed, this.#nextStreamId, call.serial);
    this.#outboxUsed += request.length;
    this.#sendWindow -= request.dataBytes;
    this.#calls.set(this.#nextStreamId, { call, problem: NO_MESSAGE });
    this.#nextStreamId += 2;
  }

  /** Writes what is queued to the socket. */
  flush(): void {
    if (this.#outboxUsed === 0 || this.#broken) return;
    this.#socket.write(Buffer.from(this.#outbox.subarray(0, this.#outboxUsed)));
    this.#outboxUsed = 0;
  }

  /** Ends the connection without another word. */
  close(): void {
    this.#broken = true;
    this.#socket.destroy();
  }

  #send(frame: Buffer): void {
    this.#makeRoom(frame.length);
    this.#outbox.set(frame, this.#outboxUsed);
    this.#outboxUsed += frame.length;
  }

  #makeRoom(bytes: number): void {
    if (this.#outboxUsed + bytes > OUTBOX_BYTES) this.flush();
  }

  #onBytes(length: number, inbox: Uint8Array): boolean {
    try {
      this.#reader.read(Buffer.from(inbox.buffer, inbox.byteOffset, length));
    } catch (error) {
      this.#break(`an unreadable answer: ${String(error)}`);
    }
    if (this.#greeted) this.#options.onTurn();
    this.flush();
    return true;
  }

  #onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case http2.FrameType.DATA:
        this.#onData(flags, streamId, bytes, start, end);
        break;
      case http2.FrameType.HEADERS:
        this.#onHeaders(flags, streamId, bytes, start, end);
        break;
      case http2.FrameType.WINDOW_UPDATE:
        if (streamId === 0) this.#sendWindow += http2.uint31(bytes, start);
        break;
      case http2.FrameType.SETTINGS:
        this.#onSettings(flags, bytes.subarray(start, end));
        break;
      case http2.FrameType.PING:
        if ((flags & http2.Flag.ACK) === 0) this.#send(pingAnswer(bytes.subarray(start, end)));
        break;
      case http2.FrameType.RST_STREAM:
        this.#settle(streamId, `the stream was reset with error ${String(bytes.readUInt32BE(start))}`);
        break;
      case http2.FrameType.GOAWAY:
        this.#break(goAwayText(bytes.subarray(start, end)));
        break;
      case http2.FrameType.CONTINUATION:
        this.#break("headers that do not fit into one frame");
        break;
      default:
    }
  }

  #onData(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    this.#replenish(end - start);
    const open = this.#calls.get(streamId);
    if (open === undefined || start === end) return;
    const whole = bytes.readUInt32BE(start + 1) === end - start - 5 && (flags & http2.Flag.PADDED) === 0;
    if (open.problem === NO_MESSAGE && whole) open.problem = this.#options.check(bytes, start + 5, end, open.call);
    else open.problem = "an answer that is not one message in one frame";
    if ((flags & http2.Flag.END_STREAM) !== 0) this.#settle(streamId, "an answer without trailers");
  }

  #onHeaders(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if ((flags & http2.Flag.END_STREAM) === 0) return;
    const odd = (flags & (http2.Flag.PADDED | http2.Flag.PRIORITY)) !== 0;
    const problem = odd ? "trailers with padding or a priority" : this.#status.problemIn(bytes, start, end);
    this.#settle(streamId, problem);
  }

  /** Ends a call. Without a `problem` of its own it is as good as its message. */
  #settle(streamId: number, problem: string | undefined): void {
    const open = this.#calls.get(streamId);
    if (open === undefined) return;
    this.#calls.delete(streamId);
    this.#options.onSettled(open.call, problem ?? open.problem);
  }

  /** Gives the server back its window before it runs out. */
  #replenish(bytes: number): void {
    this.#receivedUnacknowledged += bytes;
    if (this.#receivedUnacknowledged < RECEIVE_WINDOW_BYTES / 2) return;
    this.#send(http2.windowUpdate(this.#receivedUnacknowledged));
    this.#receivedUnacknowledged = 0;
  }

  #onSettings(flags: number, payload: Buffer): void {
    if ((flags & http2.Flag.ACK) !== 0) return;
    const settings = http2.readSettings(payload);
    this.#streamsMax = settings.get(http2.Setting.MAX_CONCURRENT_STREAMS) ?? this.#streamsMax;
    this.#streamWindow = settings.get(http2.Setting.INITIAL_WINDOW_SIZE) ?? this.#streamWindow;
    if (this.#streamWindow < http2.DEFAULT_FRAME_BYTES_MAX)
      this.#break("the server's window for a stream is too small");
    this.#send(http2.frame(http2.FrameType.SETTINGS, http2.Flag.ACK, 0, Buffer.alloc(0)));
    this.#greeted = true;
  }

  #break(problem: string): void {
    if (this.#broken) return;
    this.close();
    this.#options.onBroken(problem);
  }
}

function pingAnswer(payload: Buffer): Buffer {
  return http2.frame(http2.FrameType.PING, http2.Flag.ACK, 0, payload);
}

function goAwayText(payload: Buffer): string {
  return `GOAWAY with error ${String(payload.readUInt32BE(4))}: ${payload.toString("latin1", 8)}`;
}
