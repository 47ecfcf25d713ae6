/**
 * As much of HPACK (RFC 7541) as a peer needs that sends literals only and has forbidden the
 * dynamic table.
 */

/** A header field and where it lies in the block that it was read from. */
export interface Field {
  name: string;
  value: string;
  start: number;
  end: number;
}

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

/**
 * The fields of `block` that are spelt out. Fields of the static table are named by their number
 * ("#8" is `:status: 200`), as what matters of a gRPC answer is always spelt out. Throws when the
 * block is cut short.
 */
export function decodeFields(block: Buffer): Field[] {
  const fields: Field[] = [];
  const cursor = { block, at: 0 };
  while (cursor.at < block.length) {
    const start = cursor.at;
    const first = block[start] ?? 0;
    if (first >= 0x80) fields.push({ name: `#${String(integer(cursor, 7))}`, value: "", start, end: cursor.at });
    else if ((first & 0xe0) === 0x20) integer(cursor, 5);
    else {
      const index = integer(cursor, (first & 0xc0) === 0x40 ? 6 : 4);
      const name = index === 0 ? text(cursor) : `#${String(index)}`;
      fields.push({ name, value: text(cursor), start, end: cursor.at });
    }
  }
  return fields;
}

interface Cursor {
  block: Buffer;
  at: number;
}

/** An integer whose first byte holds it in its lowest `prefixBits`, RFC 7541 §5.1. */
function integer(cursor: Cursor, prefixBits: number): number {
  const mask = (1 << prefixBits) - 1;
  let value = byteAt(cursor) & mask;
  if (value < mask) return value;
  for (let scale = 1; ; scale *= 128) {
    const byte = byteAt(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function text(cursor: Cursor): string {
  const compressed = ((cursor.block[cursor.at] ?? 0) & 0x80) !== 0;
  const length = integer(cursor, 7);
  const bytes = cursor.block.subarray(cursor.at, cursor.at + length);
  if (bytes.length < length) throw new Error("a header block ends inside a text");
  cursor.at += length;
  return compressed ? huffmanText(bytes) : bytes.toString("latin1");
}

function byteAt(cursor: Cursor): number {
  const byte = cursor.block[cursor.at++];
  if (byte === undefined) throw new Error("a header block ends inside a number");
  return byte;
}

/**
 * The printable symbols of RFC 7541 appendix B by length of their code. The code is canonical: the
 * order is the code.
 */
const SYMBOLS_BY_BITS: Readonly<Record<number, string>> = {
  5: "012aceiost",
  6: " %-./3456789=A_bdfghlmnpru",
  7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
  8: "&*,;XZ",
  10: '!"()?',
  11: "'+|",
  12: "#>",
  13: "\0$@[]~",
  14: "^}",
  15: "<`{",
};

function huffmanText(bytes: Buffer): string {
  let decoded = "";
  let code = 0;
  let firstCode = 0;
  let bits = 0;
  for (let i = 0; i < bytes.length * 8; i++) {
    const bit = ((bytes[i >> 3] ?? 0) >> (7 - (i & 7))) & 1;
    code = code * 2 + bit;
    firstCode *= 2;
    bits += 1;
    const symbols = SYMBOLS_BY_BITS[bits] ?? "";
    const symbol = symbols[code - firstCode];
    firstCode += symbols.length;
    if (symbol === undefined) continue;
    decoded += symbol;
    code = firstCode = bits = 0;
  }
  return decoded;
}
