import { type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";

// Reads protobuf's wire format slowly and by the specification. The libraries under test must not
// judge themselves.

interface WireRecord {
  readonly fieldNumber: number;
  /** The bytes of a record that has a length; undefined for any other record. */
  readonly bytes: Buffer | undefined;
}

/**
 * Reads the texts of a message and its pairs of texts; the last of each name counts. Throws when
 * the bytes are no message.
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
    // Readers differ on numbers that are too long; ours keeps 32 bits of a length.
    if (wireType === 0) takeVarint(message.length);
    else if (wireType === 1) take(8);
    else if (wireType === 2) bytes = take(Number(BigInt.asUintN(32, takeVarint(10))));
    else if (wireType === 3) open.push(fieldNumber);
    else if (wireType === 5) take(4);
    else if (wireType !== 4 || open.pop() !== fieldNumber) throw new Error("there is no such wire type, or group");
    // Records within a group belong to the message of the group.
    if (open.length === 0) records.push({ fieldNumber, bytes });
  }
  if (open.length > 0) throw new Error("a group does not end");
  return records;
}
