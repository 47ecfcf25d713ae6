import { type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";

// Protobuf's wire format once more, slowly and by the book: what bytes say is not asked of the
// libraries under test.

interface WireRecord {
  readonly fieldNumber: number;
  /** Of a record that has a length; undefined for any other. */
  readonly bytes: Buffer | undefined;
}

/**
 * The texts of a message, and its pairs of texts; the last of each name counts. Throws when it is
 * not a message.
 */
export function textsIn(desc: DescMessage, message: Uint8Array): JsonObject {
  const texts: JsonObject = {};
  for (const { fieldNumber, bytes } of recordsIn(Buffer.from(message))) {
    const field = desc.fields.find(({ number }) => number === fieldNumber);
    if (field === undefined || bytes === undefined) continue;
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) texts[field.name] = bytes.toString();
    if (field.fieldKind === "map") texts[field.name] = { ...(texts[field.name] as JsonObject), ...pairIn(bytes) };
  }
  return texts;
}

function pairIn(entry: Buffer): JsonObject {
  const records = recordsIn(entry);
  const part = (number: number): string =>
    records.findLast(({ fieldNumber, bytes }) => fieldNumber === number && bytes !== undefined)?.bytes?.toString() ??
    "";
  return Object.fromEntries([[part(1), part(2)]]);
}

function recordsIn(message: Buffer): WireRecord[] {
  const records: WireRecord[] = [];
  const open: number[] = []; // the groups that have not ended
  let rest = message;
  const take = (length: number): Buffer => {
    if (length > rest.length) throw new Error("the message ends too early");
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    return taken;
  };
  const takeVarint = (bytesMax: number): bigint => {
    let value = 0n;
    for (let index = 0; index < bytesMax; index += 1) {
      const byte = take(1).readUInt8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw new Error("a varint does not end");
  };
  while (rest.length > 0) {
    const tag = Number(takeVarint(5));
    const [fieldNumber, wireType] = [Math.floor(tag / 8), tag % 8];
    if (fieldNumber === 0 || tag >= 2 ** 32) throw new Error("no field has that number");
    let bytes: Buffer | undefined;
    // Readers differ in what they make of numbers that are too long; ours keeps 32 bits of a
    // length.
    if (wireType === 0) takeVarint(message.length);
    else if (wireType === 1) take(8);
    else if (wireType === 2) bytes = take(Number(BigInt.asUintN(32, takeVarint(10))));
    else if (wireType === 3) open.push(fieldNumber);
    else if (wireType === 5) take(4);
    else if (wireType !== 4 || open.pop() !== fieldNumber) throw new Error("there is no such wire type, or group");
    // What stands in a group is of the group's message.
    if (open.length === 0) records.push({ fieldNumber, bytes });
  }
  if (open.length > 0) throw new Error("a group does not end");
  return records;
}
