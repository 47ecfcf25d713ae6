import type { DescMessage } from "@bufbuild/protobuf";
import fc from "fast-check";

import { bytesOf } from "../../../support/callers/contract-requests.js";
import { type Known, messageValueOf } from "./values.js";

const BYTES_MAX = 270_000; // a little more than the server takes

/** A message of that type, with most of its fields set. */
function messageOf(desc: DescMessage, known: Known): fc.Arbitrary<Uint8Array> {
  return messageValueOf(desc, known).map((json) => bytesOf(desc, json));
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}

const numbers = fc.oneof(
  fc.nat(200).map(BigInt),
  fc.constantFrom(0n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 70n),
);
const tails = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).map((bytes) => [...bytes]),
  numbers.map(varint),
  // More bytes than a varint can have.
  fc.nat(30).map((length) => Array<number>(length).fill(0xff)),
  // A length with as many bytes behind it, or with fewer.
  fc.tuple(numbers, fc.uint8Array({ maxLength: 40 })).map(([length, bytes]) => [...varint(length), ...bytes]),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => [bytes.length, ...bytes]),
);
const TAGS = { fieldNumbers: 20, wireTypes: 8 };
const record = fc
  .tuple(fc.oneof(fc.nat(TAGS.fieldNumbers).map(BigInt), numbers), fc.nat(TAGS.wireTypes - 1), tails)
  .map(([fieldNumber, wireType, tail]) => [...varint((fieldNumber << 3n) | BigInt(wireType)), ...tail]);

/** Nested groups, some of them without an end. No message of the contract has groups. */
const groups = fc
  .tuple(fc.constantFrom(1, 2, 99, 100, 101, 5_000, BYTES_MAX / 2), fc.integer({ min: 1, max: 15 }), fc.boolean())
  .map(([depth, fieldNumber, ended]) => {
    const [start, end] = [(fieldNumber << 3) | 3, (fieldNumber << 3) | 4];
    return Buffer.concat([Buffer.alloc(depth, start), Buffer.alloc(ended ? depth : 0, end)]);
  });

/** The bytes with one kind of damage. */
function damaged(messages: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .record({
      bytes: messages,
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bit: fc.nat(7),
      extra: record,
      way: fc.nat(5),
    })
    .map(({ bytes, at, bit, extra, way }) => {
      const index = Math.floor(at * bytes.length);
      const [head, tail] = [bytes.subarray(0, index), bytes.subarray(index)];
      const flipped = Buffer.from(bytes);
      if (flipped.length > index) flipped.writeUInt8(flipped.readUInt8(index) ^ (1 << bit), index);
      const joined = (...parts: (Uint8Array | number[])[]): Uint8Array =>
        Buffer.concat(parts.map((part) => Uint8Array.from(part)));
      return (
        [
          flipped,
          head,
          joined(head, tail.subarray(1)),
          joined(head, extra, tail),
          joined(bytes, extra),
          joined(bytes, head),
        ][way] ?? bytes
      );
    });
}

/** Bytes for an rpc that takes `desc`: mostly a good message, or nearly one. */
export function requestBytesOf(desc: DescMessage, known: Known): fc.Arbitrary<Uint8Array> {
  const messages = messageOf(desc, known);
  return fc.oneof(
    { weight: 10, arbitrary: messages },
    { weight: 10, arbitrary: damaged(messages) },
    { weight: 3, arbitrary: fc.array(record, { maxLength: 6 }).map((records) => Uint8Array.from(records.flat())) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: fc.tuple(messages, groups).map((parts) => Buffer.concat(parts)) },
  );
}
