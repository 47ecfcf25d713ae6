import { encodeFields } from "./hpack.js";
import { DEFAULT_FRAME_BYTES_MAX, Flag, frame, FRAME_HEADER_BYTES, FrameType, writeStreamId } from "./http2-frames.js";
import { findSerial, writeSerial } from "./reference.js";

/**
 * A unary gRPC request as the frames that it is made of; only the stream's id and the serial number
 * change from call to call.
 */
export class GrpcRequest {
  /** What one sending takes from the server's windows. */
  readonly dataBytes: number;
  readonly #frames: Buffer;
  readonly #dataFrameAt: number;
  readonly #serialAt: number;

  /** Throws if the message does not fit into one frame. */
  constructor(options: { authority: string; path: string; apiKey: string; message: Uint8Array }) {
    const headers = frame(FrameType.HEADERS, Flag.END_HEADERS, 0, encodeFields(requestFields(options)));
    const data = grpcMessage(options.message);
    if (data.length > DEFAULT_FRAME_BYTES_MAX) throw new Error("the request does not fit into one HTTP/2 frame");
    this.dataBytes = data.length;
    this.#frames = Buffer.concat([headers, frame(FrameType.DATA, Flag.END_STREAM, 0, data)]);
    this.#dataFrameAt = headers.length;
    const serialInMessage = findSerial(data);
    this.#serialAt = serialInMessage < 0 ? -1 : headers.length + FRAME_HEADER_BYTES + serialInMessage;
  }

  /** Bytes on the wire. */
  get length(): number {
    return this.#frames.length;
  }

  /** Writes the request into `target` at `at`. */
  write(target: Buffer, at: number, streamId: number, serial: number): void {
    target.set(this.#frames, at);
    writeStreamId(target, at, streamId);
    writeStreamId(target, at + this.#dataFrameAt, streamId);
    if (this.#serialAt >= 0) writeSerial(target, at + this.#serialAt, serial);
  }
}

function requestFields(options: { authority: string; path: string; apiKey: string }): [string, string][] {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", options.path],
    [":authority", options.authority],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ["x-api-key", options.apiKey],
  ];
}

/** The message with gRPC's prefix: not compressed, and its length. */
function grpcMessage(message: Uint8Array): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}
