import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { ENUMS, type Field, MESSAGES } from "./gen/tables.js";
import { parseTime } from "./time.js";

const INT32_MAX = 2 ** 31 - 1;

/**
 * Encodes a request. Throws a TypeError that names the field if a value has not the type that the
 * contract wants, because JavaScript has no compiler that would say so. The service itself checks
 * what a value means, and which fields must be there.
 */
export function encode(type: string, value: unknown): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, { type, value, path: "" });
  return writer.finish();
}

/**
 * Encodes a request that has nothing but one item of a list. In protobuf, concatenated messages
 * merge, so the concatenation of several is a request with all of their items.
 */
export function encodeItem(type: string, name: string, { item, index }: { item: unknown; index: number }): Uint8Array {
  const writer = new BinaryWriter();
  const field = MESSAGES[type]?.find((candidate) => candidate.name === name);
  if (field === undefined) throw new Error(`${type} has no list ${name}`);
  writeOne(writer, field, { value: item, path: `${name}[${String(index)}]` });
  return writer.finish();
}

interface Given {
  readonly type: string;
  readonly value: unknown;
  /** The name of the message in the request, such as "requests[3].mint". Empty for the request. */
  readonly path: string;
}

function writeMessage(writer: BinaryWriter, { type, value, path }: Given): void {
  const fields = MESSAGES[type] ?? [];
  const prefix = path === "" ? "" : `${path}.`;
  const taken = new Map<string, string>();
  for (const [name, one] of Object.entries(objectIn(value, path === "" ? "the request" : path))) {
    if (one === undefined) continue;
    const field = fields.find((candidate) => candidate.name === name);
    if (field === undefined) {
      const known = fields.length === 0 ? "none" : fields.map((each) => each.name).join(", ");
      throw new TypeError(`${prefix}${name} is not a field of ${type}. Its fields: ${known}.`);
    }
    const { oneof } = field;
    const other = oneof === undefined ? undefined : taken.get(oneof);
    if (other !== undefined) throw new TypeError(`${prefix}${name} must not be set together with ${prefix}${other}`);
    if (oneof !== undefined) taken.set(oneof, name);
    writeField(writer, field, { value: one, path: prefix + name });
  }
}

function writeField(writer: BinaryWriter, field: Field, { value, path }: Omit<Given, "type">): void {
  if (field.holds === "list") {
    if (!Array.isArray(value)) throw wrong(path, "an array", value);
    for (const [index, item] of value.entries()) {
      writeOne(writer, field, { value: item, path: `${path}[${String(index)}]` });
    }
  } else if (field.holds === "map") {
    for (const [key, text] of Object.entries(objectIn(value, path))) {
      writer.tag(field.number, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(textIn(key, `a key of ${path}`));
      writer.tag(2, WireType.LengthDelimited).string(textIn(text, `${path}.${key}`));
      writer.join();
    }
  } else {
    writeOne(writer, field, { value, path });
  }
}

/** An item of a list is written with a tag of its own: decoders take that for numbers, too. */
function writeOne(writer: BinaryWriter, field: Field, { value, path }: Omit<Given, "type">): void {
  const { number, kind, type = "" } = field;
  switch (kind) {
    case "string":
      writer.tag(number, WireType.LengthDelimited).string(textIn(value, path));
      break;
    case "decimal":
      if (typeof value === "number") throw wrong(path, 'a string such as "1000.00"', value);
      writer.tag(number, WireType.LengthDelimited).string(textIn(value, path));
      break;
    case "bool":
      if (typeof value !== "boolean") throw wrong(path, "true or false", value);
      writer.tag(number, WireType.Varint).bool(value);
      break;
    case "int32":
      writer.tag(number, WireType.Varint).int32(wholeIn(value, path, INT32_MAX));
      break;
    case "int64":
      writer.tag(number, WireType.Varint).int64(wholeIn(value, path, Number.MAX_SAFE_INTEGER));
      break;
    case "enum":
      writer.tag(number, WireType.Varint).int32(enumIn(value, path, type));
      break;
    case "time":
      writer.tag(number, WireType.LengthDelimited).fork();
      writeTime(writer, value, path);
      writer.join();
      break;
    case "message":
      writer.tag(number, WireType.LengthDelimited).fork();
      writeMessage(writer, { type, value, path });
      writer.join();
      break;
    case "bytes":
    case "refusal":
      throw new TypeError(`${path} cannot be sent`);
  }
}

function objectIn(value: unknown, path: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map)) return value;
  throw wrong(path, "an object", value);
}

function textIn(value: unknown, path: string): string {
  if (typeof value !== "string") throw wrong(path, "a string", value);
  // UTF-8 cannot encode half of a surrogate pair: the service would get another text.
  if (/\p{Surrogate}/u.test(value))
    throw new TypeError(`${path} must be valid Unicode: it has half of a surrogate pair`);
  return value;
}

function wholeIn(value: unknown, path: string, max: number): number {
  if (typeof value !== "number") throw wrong(path, "a number", value);
  if (Number.isInteger(value) && Math.abs(value) <= max) return value;
  throw new TypeError(`${path} must be a whole number of at most ${String(max)}, not ${String(value)}`);
}

function enumIn(value: unknown, path: string, type: string): number {
  const names = ENUMS[type] ?? {};
  const number = typeof value === "string" && Object.hasOwn(names, value) ? names[value] : undefined;
  if (number !== undefined) return number;
  const known = Object.keys(names).map((name) => JSON.stringify(name));
  throw wrong(path, `one of ${known.join(", ")}`, value);
}

function writeTime(writer: BinaryWriter, value: unknown, path: string): void {
  const time = parseTime(value);
  if (time === undefined) throw wrong(path, 'a Date, or a time such as "2026-01-31T12:00:00Z"', value);
  writer.tag(1, WireType.Varint).int64(time.seconds);
  writer.tag(2, WireType.Varint).int32(time.nanos);
}

/** Shows a short text only: a long one may hold what must not get into a log. */
function wrong(path: string, wanted: string, value: unknown): TypeError {
  const isShown = typeof value === "string" && value.length <= 40;
  const isNamed = value === null || value === undefined || typeof value === "number";
  const given = isShown ? JSON.stringify(value) : isNamed ? String(value) : nameOf(value);
  return new TypeError(`${path} must be ${wanted}, not ${given}`);
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? `a ${value?.constructor.name ?? "n object"}` : `a ${typeof value}`;
}
