import { crc32, deflateSync } from "node:zlib";

// QR codes of byte mode, error correction L, versions 1 to 5: one block each (ISO/IEC 18004).

/** By version, from 1: how many bytes a code has for data, and for error correction. */
const CODEWORDS = [
  [19, 7],
  [34, 10],
  [55, 15],
  [80, 20],
  [108, 26],
] as const;
/** The mode and the length take 12 bits, and the end 4. */
const OVERHEAD_BYTES = 2;
export const QR_BYTES_MAX = 106;
/** Level L with the mask that inverts each second module, with its BCH bits and fixed pattern. */
const FORMAT_BITS = 0b111011111000100;
const QUIET_MODULES = 4;

/** The products of 2 in GF(256), in which Reed and Solomon's codes count. */
const POWERS = Array.from({ length: 255 }).reduce<number[]>((powers) => {
  const doubled = (powers.at(-1) ?? 0) * 2;
  return powers.length === 0 ? [1] : [...powers, doubled > 255 ? doubled ^ 0x11d : doubled];
}, []);

/** The modules of a code, true where dark; undefined for a text that is too long. */
export function qrModules(text: string): boolean[][] | undefined {
  const bytes = Buffer.from(text);
  const version = CODEWORDS.findIndex(([data]) => bytes.length + OVERHEAD_BYTES <= data);
  const codewords = CODEWORDS[version];
  if (codewords === undefined) return undefined;
  const [dataBytes, correctionBytes] = codewords;
  const data = dataOf(bytes, dataBytes);
  const bits = [...data, ...correctionOf(data, correctionBytes)].flatMap((byte) => bitsOf(byte, 8));
  const size = 21 + 4 * version;
  const fixed = fixedModules(size);
  const modules = fixed.map((row) => row.map((module) => module ?? false));
  let next = 0;
  // Two columns at a time, from the right, up and down. The column of the timing is left out.
  for (const [turn, right] of pairsOf(size).entries()) {
    for (let step = 0; step < size; step += 1) {
      const y = turn % 2 === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (fixed[y]?.[x] !== undefined) continue;
        const row = modules[y];
        if (row !== undefined) row[x] = (bits[next] ?? false) !== ((x + y) % 2 === 0);
        next += 1;
      }
    }
  }
  return modules;
}

/** A picture of modules, black on white, about `pixels` wide. */
export function pngOf(modules: readonly (readonly boolean[])[], pixels: number): Buffer {
  const width = modules.length + 2 * QUIET_MODULES;
  const scale = Math.max(1, Math.floor(pixels / width));
  const isDark = (pixel: number, row: readonly boolean[] | undefined): boolean =>
    row?.[Math.floor(pixel / scale) - QUIET_MODULES] ?? false;
  const lines = Array.from({ length: width * scale }, (_, y) => {
    const row = modules[Math.floor(y / scale) - QUIET_MODULES];
    return Buffer.from([0, ...Array.from({ length: width * scale }, (__, x) => (isDark(x, row) ? 0 : 255))]);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width * scale, 0);
  header.writeUInt32BE(width * scale, 4);
  header[8] = 8;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const image = deflateSync(Buffer.concat(lines));
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", image), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function dataOf(bytes: Buffer, length: number): number[] {
  const bits = [...bitsOf(0b0100, 4), ...bitsOf(bytes.length, 8), ...[...bytes].flatMap((byte) => bitsOf(byte, 8))];
  const padded = [...bits, false, false, false, false];
  const data = Array.from({ length: padded.length / 8 }, (_, i) =>
    padded.slice(8 * i, 8 * i + 8).reduce((byte, bit) => 2 * byte + Number(bit), 0),
  );
  return [...data, ...Array.from({ length: length - data.length }, (_, i) => (i % 2 === 0 ? 0xec : 0x11))];
}

/** The remainder of the data, divided by the polynomial with the roots 1, 2, 4, … */
function correctionOf(data: readonly number[], length: number): number[] {
  const divisor = POWERS.slice(0, length).reduce<number[]>(
    (polynomial, root) =>
      [...polynomial, 0].map((factor, i) => factor ^ (i === 0 ? 0 : product(polynomial[i - 1] ?? 0, root))),
    [1],
  );
  return data.reduce<number[]>(
    ([first = 0, ...rest], byte) =>
      [...rest, 0].map((remainder, i) => remainder ^ product(divisor[i + 1] ?? 0, first ^ byte)),
    Array.from({ length }, () => 0),
  );
}

function product(left: number, right: number): number {
  if (left === 0 || right === 0) return 0;
  return POWERS[(POWERS.indexOf(left) + POWERS.indexOf(right)) % 255] ?? 0;
}

/** The modules that are the same for each text; undefined where the data goes. */
function fixedModules(size: number): (boolean | undefined)[][] {
  const format = bitsOf(FORMAT_BITS, 15);
  const alignment = size - 7;
  const corners = [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const;
  const moduleOf = (x: number, y: number): boolean | undefined => {
    for (const [left, top] of corners) {
      const distance = Math.max(Math.abs(x - left), Math.abs(y - top));
      if (distance <= 4) return distance !== 2 && distance !== 4;
    }
    if (y === 8 && x <= 8 && x !== 6) return format[x < 6 ? x : x - 1];
    if (x === 8 && y <= 8 && y !== 6) return format[y === 8 ? 7 : y === 7 ? 8 : 14 - y];
    if (y === 8 && x >= size - 8) return format[15 - (size - x)];
    if (x === 8 && y >= size - 8) return y === size - 8 || format[size - 1 - y];
    if (x === 6 || y === 6) return (x + y) % 2 === 0;
    const distance = Math.max(Math.abs(x - alignment), Math.abs(y - alignment));
    return size > 21 && distance <= 2 ? distance !== 1 : undefined;
  };
  return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (__, x) => moduleOf(x, y)));
}

/** The right columns of the pairs. */
function pairsOf(size: number): number[] {
  return Array.from({ length: (size - 1) / 2 }, (_, i) => size - 1 - 2 * i).map((x) => (x <= 6 ? x - 1 : x));
}

function bitsOf(value: number, count: number): boolean[] {
  return Array.from({ length: count }, (_, i) => ((value >> (count - 1 - i)) & 1) === 1);
}
