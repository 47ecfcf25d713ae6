/**
 * The part of HPACK (RFC 7541) that a client needs which sends literals only, sets the server's
 * header table to zero bytes, and reads nothing but the status of a call.
 */

/** "grpc-status" in the Huffman code of RFC 7541 appendix B, as servers write it, and plain. */
const STATUS_NAMES = [Buffer.from("9acac8b21234da8f", "hex"), Buffer.from("grpc-status")];

/**
 * The fields as literals that no table remembers. Throws if a name or value is longer than 126
 * bytes.
 */
export function encodeFields(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const parts = fields.flatMap(([name, value]) => [Buffer.of(0), encodeText(name), encodeText(value)]);
  return Buffer.concat(parts);
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 126) throw new Error(`a header of ${String(bytes.length)} bytes is too long for this encoder`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** The value of `grpc-status` in a header block, undefined without one. Throws on a cut block. */
export function grpcStatusIn(block: Buffer): string | undefined {
  const cursor = { block, at: 0 };
  while (cursor.at < block.length) {
    const first = block[cursor.at] ?? 0;
    // A field of the static table, or a new size of the dynamic one.
    if (first >= 0x80) integer(cursor, 7);
    else if ((first & 0xe0) === 0x20) integer(cursor, 5);
    else {
      const index = integer(cursor, (first & 0xc0) === 0x40 ? 6 : 4);
      const name = index === 0 ? bytes(cursor) : undefined;
      const value = bytes(cursor);
      // A digit is as short plain as it is in the code: servers write it plain.
      if (STATUS_NAMES.some((one) => name?.equals(one) === true)) return value.toString("latin1");
    }
  }
  return undefined;
}

interface Cursor {
  block: Buffer;
  at: number;
}

/** An integer that begins in the lowest `prefixBits` of its first byte, RFC 7541 §5.1. */
function integer(cursor: Cursor, prefixBits: number): number {
  const mask = (1 << prefixBits) - 1;
  let value = cursor.block.readUInt8(cursor.at++) & mask;
  if (value < mask) return value;
  for (let scale = 1; ; scale *= 128) {
    const byte = cursor.block.readUInt8(cursor.at++);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function bytes(cursor: Cursor): Buffer {
  const length = integer(cursor, 7);
  const found = cursor.block.subarray(cursor.at, cursor.at + length);
  if (found.length < length) throw new Error("a header block ends inside a text");
  cursor.at += length;
  return found;
}
