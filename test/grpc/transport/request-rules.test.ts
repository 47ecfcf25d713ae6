import { expect } from "chai";

import type { CallRefusal } from "../../../src/grpc/errors/refusal.js";
import { RequestFrames } from "../../../src/grpc/transport/request-rules.js";

const BYTES_MAX = 300;

/** A message of `length` bytes with its prefix. */
function message(length: number, flag = 0): Buffer {
  const prefix = Buffer.of(flag, 0, 0, 0, 0);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, Buffer.alloc(length, 0xff)]);
}

/** Returns the first refusal of a body that arrives in these chunks. */
function refusalOf(
  chunks: readonly Buffer[],
  { isStream = false, isCompressed = false } = {},
): CallRefusal["reason"] | undefined {
  const frames = new RequestFrames({ isStream, isCompressed, bytesMax: BYTES_MAX });
  for (const chunk of chunks) {
    const refusal = frames.read(chunk);
    if (refusal !== undefined) return refusal.reason;
  }
  return frames.end()?.reason;
}

/** All ways to cut the bytes into three chunks. */
function* cuts(bytes: Buffer): Generator<Buffer[]> {
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      yield [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
    }
  }
}

describe("grpc: the frames of a request", () => {
  const STREAM = { isStream: true };
  for (const [what, bytes, options, reason] of [
    ["one message", message(20), {}, undefined],
    ["one empty message", message(0), {}, undefined],
    ["the largest message", message(BYTES_MAX), {}, undefined],
    ["a compressed message", message(20, 1), { isCompressed: true }, undefined],
    ["a stream of three messages", Buffer.concat([message(9), message(0), message(3)]), STREAM, undefined],
    ["a stream of none", Buffer.alloc(0), STREAM, undefined],
    ["no message", Buffer.alloc(0), {}, "MALFORMED_REQUEST"],
    ["two messages", Buffer.concat([message(5), message(5)]), {}, "MALFORMED_REQUEST"],
    ["a stray byte", Buffer.concat([message(5), Buffer.of(0)]), {}, "MALFORMED_REQUEST"],
    ["half of a prefix", message(5).subarray(0, 3), {}, "MALFORMED_REQUEST"],
    ["half of a message", message(5).subarray(0, 8), {}, "MALFORMED_REQUEST"],
    [
      "a stream of a message and a half",
      Buffer.concat([message(5), message(5).subarray(0, 8)]),
      STREAM,
      "MALFORMED_REQUEST",
    ],
    ["a stray byte in a stream", Buffer.concat([message(5), Buffer.of(0)]), STREAM, "MALFORMED_REQUEST"],
    ["the flag 2", message(5, 2), {}, "MALFORMED_REQUEST"],
    ["the flag 2 in a stream", Buffer.concat([message(5), message(5, 2)]), STREAM, "MALFORMED_REQUEST"],
    ["a compressed message without a compression", message(5, 1), {}, "MALFORMED_REQUEST"],
    ["a message that is too large", message(BYTES_MAX + 1).subarray(0, 30), {}, "REQUEST_TOO_LARGE"],
    ["a length of 4 GiB", Buffer.of(0, 255, 255, 255, 255, 0), {}, "REQUEST_TOO_LARGE"],
  ] as const) {
    it(`${reason ?? "pass"}, wherever their chunks end: ${what}`, () => {
      const found = new Set([...cuts(bytes)].map((chunks) => refusalOf(chunks, options)));
      expect([...found]).to.deep.equal([reason]);
    });
  }
});
