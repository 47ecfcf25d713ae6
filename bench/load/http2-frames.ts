/** HTTP/2 frames (RFC 9113 §4 and §6): builds those that a client sends, and cuts a byte stream. */

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

const HEADER_BYTES = 9;

/** A peer may send this much on a connection or stream until its settings say otherwise. */
export const DEFAULT_WINDOW_BYTES = 65_535;

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame, header included. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/**
 * A client's first bytes. They set the server's header table to zero bytes, so that an answer's
 * headers can be read without a table. The server may send `windowBytes` at a time.
 */
export function clientPreface(windowBytes: number): Buffer {
  const payload = Buffer.alloc(12);
  payload.writeUInt16BE(Setting.HEADER_TABLE_SIZE, 0);
  payload.writeUInt16BE(Setting.INITIAL_WINDOW_SIZE, 6);
  payload.writeUInt32BE(windowBytes, 8);
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

export interface Frame {
  type: number;
  flags: number;
  streamId: number;
  payload: Buffer;
}

/** Cuts a byte stream into frames, wherever its chunks end. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the frames that are complete with this chunk. */
  read(chunk: Buffer): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    while (at + HEADER_BYTES <= bytes.length) {
      const start = at + HEADER_BYTES;
      const end = start + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      // The highest bit of a stream's id is reserved.
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      frames.push({
        type: bytes[at + 3] ?? 0,
        flags: bytes[at + 4] ?? 0,
        streamId,
        payload: bytes.subarray(start, end),
      });
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}
