/**
 * HTTP/2 frames (RFC 9113 §4 and §6) as bytes: building the few that a client needs, and cutting a
 * byte stream into them.
 */

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const;

export const Setting = { HEADER_TABLE_SIZE: 1, MAX_CONCURRENT_STREAMS: 3, INITIAL_WINDOW_SIZE: 4 } as const;

export const FRAME_HEADER_BYTES = 9;

/** What either side may send on a connection or stream before it has heard otherwise. */
export const DEFAULT_WINDOW_BYTES = 65_535;

/** The largest frame that a peer takes which has not said otherwise. */
export const DEFAULT_FRAME_BYTES_MAX = 16_384;

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame, header included. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

/**
 * A client's first bytes. They forbid the server to refer to earlier headers, so that an answer can
 * be read without a table, and let it send `windowBytes` on the connection and on each stream.
 */
export function clientPreface(windowBytes: number): Buffer {
  const settings = [
    [Setting.HEADER_TABLE_SIZE, 0],
    [Setting.INITIAL_WINDOW_SIZE, windowBytes],
  ] as const;
  const payload = Buffer.alloc(settings.length * 6);
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return Buffer.concat([
    PREFACE,
    frame(FrameType.SETTINGS, 0, 0, payload),
    windowUpdate(windowBytes - DEFAULT_WINDOW_BYTES),
  ]);
}

/** Lets the server send `bytes` more on the connection. */
export function windowUpdate(bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FrameType.WINDOW_UPDATE, 0, 0, payload);
}

/** The values of a SETTINGS frame's payload by their number. */
export function readSettings(payload: Buffer): Map<number, number> {
  const values = new Map<number, number>();
  for (let at = 0; at + 6 <= payload.length; at += 6)
    values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  return values;
}

/**
 * Called with each whole frame; its payload is `bytes` from `start` to `end`, valid only during the
 * call.
 */
export type OnFrame = (
  type: number,
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

/** Cuts what arrives on a socket into frames, wherever the chunks begin and end. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Reads one chunk. Keeps no reference to it. */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + FRAME_HEADER_BYTES <= bytes.length) {
      const start = at + FRAME_HEADER_BYTES;
      const end = start + ((byte(bytes, at) << 16) | (byte(bytes, at + 1) << 8) | byte(bytes, at + 2));
      if (end > bytes.length) break;
      this.#onFrame(byte(bytes, at + 3), byte(bytes, at + 4), uint31(bytes, at + 5), bytes, start, end);
      at = end;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}

function byte(bytes: Buffer, at: number): number {
  return bytes[at] ?? 0;
}

/** A 31-bit number whose highest bit is reserved. */
export function uint31(bytes: Buffer, at: number): number {
  return (
    ((byte(bytes, at) & 0x7f) << 24) | (byte(bytes, at + 1) << 16) | (byte(bytes, at + 2) << 8) | byte(bytes, at + 3)
  );
}

/** Writes a stream's id into the frame that begins at `at`. */
export function writeStreamId(bytes: Buffer, at: number, streamId: number): void {
  bytes[at + 5] = streamId >>> 24;
  bytes[at + 6] = (streamId >>> 16) & 0xff;
  bytes[at + 7] = (streamId >>> 8) & 0xff;
  bytes[at + 8] = streamId & 0xff;
}
