import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";

import { type Parsed, parsed, unparsed } from "../problems/field-problem.js";
import { type Json, JsonNumber } from "./parse-json.js";

export type ScalarValue = string | number | bigint | boolean | Uint8Array;

const LONE_SURROGATE = /\p{Surrogate}/u;
const WHOLE_NUMBER = /^(-?[0-9]+)(?:\.0+)?$/;

interface Bounds {
  readonly bits: 32 | 64;
  readonly min: bigint;
  readonly max: bigint;
}

const signed = (bits: 32 | 64): Bounds => ({ bits, min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });
const unsigned = (bits: 32 | 64): Bounds => ({ bits, min: 0n, max: 2n ** BigInt(bits) - 1n });

const BOUNDS: ReadonlyMap<ScalarType, Bounds> = new Map([
  [ScalarType.INT32, signed(32)],
  [ScalarType.SINT32, signed(32)],
  [ScalarType.SFIXED32, signed(32)],
  [ScalarType.UINT32, unsigned(32)],
  [ScalarType.FIXED32, unsigned(32)],
  [ScalarType.INT64, signed(64)],
  [ScalarType.SINT64, signed(64)],
  [ScalarType.SFIXED64, signed(64)],
  [ScalarType.UINT64, unsigned(64)],
  [ScalarType.FIXED64, unsigned(64)],
]);

/** Reads a scalar without conversion: "7" is not a number, and 7 is not a string. */
export function readScalar(type: ScalarType, json: Json): Parsed<ScalarValue> {
  const bounds = BOUNDS.get(type);
  if (bounds !== undefined) return readInteger(bounds, json);
  if (type === ScalarType.STRING) return readString(json);
  if (type === ScalarType.BYTES) return readBytes(json);
  if (type === ScalarType.BOOL)
    return typeof json === "boolean" ? parsed(json) : unparsed("must be true or false", "wrong_type");
  return readFloat(type, json);
}

const SAFE: Bounds = { bits: 64, min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) };

/** Reads a number of 64 bits that every program can hold in a JSON number. Refuses a string. */
export function readNumber(json: Json): Parsed<number | bigint> {
  return readInteger(SAFE, typeof json === "string" ? null : json);
}

/**
 * Reads a decimal from the text of a JSON number or from a string. The server checks whether the
 * text is a decimal.
 */
export function readDecimal(json: Json): Parsed<string> {
  if (json instanceof JsonNumber) return parsed(json.text);
  return typeof json === "string"
    ? readString(json)
    : unparsed("must be a number, or a string that contains one", "wrong_type");
}

/** Reads the name of an enum value as `enumName` writes it. The zero value has no name. */
export function readEnum(desc: DescEnum, json: Json): Parsed<number> {
  const value = desc.values.find((candidate) => candidate.number !== 0 && enumName(desc, candidate.name) === json);
  if (value !== undefined) return parsed(value.number);
  const names = desc.values.filter(({ number }) => number !== 0).map(({ name }) => enumName(desc, name));
  return unparsed(`must be one of ${names.join(", ")}`, typeof json === "string" ? "unknown_value" : "wrong_type");
}

/** Returns the value's name in lower case, without the prefix that all values share. */
export function enumName(desc: DescEnum, name: string): string {
  return name.slice(desc.sharedPrefix?.length ?? 0).toLowerCase();
}

/**
 * Converts a text from a path or a query to the JSON that the type expects. A text that does not
 * fit the type stays a string, which the reader of the type then refuses.
 */
export function scalarJson(type: ScalarType, text: string): Json {
  if (type === ScalarType.STRING || type === ScalarType.BYTES) return text;
  if (type === ScalarType.BOOL) return text === "true" ? true : text === "false" ? false : text;
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text) ? new JsonNumber(text) : text;
}

export function readString(json: Json): Parsed<string> {
  if (typeof json !== "string") return unparsed("must be a string", "wrong_type");
  // UTF-8 cannot encode half of a surrogate pair, so the message could not be sent.
  return LONE_SURROGATE.test(json)
    ? unparsed("must be valid Unicode: it contains half of a surrogate pair")
    : parsed(json);
}

function readBytes(json: Json): Parsed<Uint8Array> {
  if (typeof json !== "string") return unparsed("must be a string in base64", "wrong_type");
  try {
    return parsed(base64Decode(json));
  } catch {
    return unparsed("must be a string in base64");
  }
}

function readFloat(type: ScalarType, json: Json): Parsed<number> {
  const value = json instanceof JsonNumber ? Number(json.text) : NaN;
  const fits = Number.isFinite(type === ScalarType.FLOAT ? Math.fround(value) : value);
  return fits
    ? parsed(value)
    : unparsed("must be a number", json instanceof JsonNumber ? "out_of_range" : "wrong_type");
}

// A 64-bit number has at most 20 digits. The limit keeps BigInt away from texts of a million
// digits.
const INTEGER_CHARACTERS_MAX = 64;

function readInteger({ bits, min, max }: Bounds, json: Json): Parsed<number | bigint> {
  // Many programs cannot hold 64 bits in a JSON number, so a string is allowed too.
  const text = json instanceof JsonNumber ? json.text : bits === 64 && typeof json === "string" ? json : "";
  const digits = text.length > INTEGER_CHARACTERS_MAX ? undefined : WHOLE_NUMBER.exec(text)?.[1];
  const value = digits === undefined ? undefined : BigInt(digits);
  if (value === undefined || value < min || value > max) {
    const code = value !== undefined ? "out_of_range" : json instanceof JsonNumber ? "format" : "wrong_type";
    return unparsed(`must be a whole number from ${String(min)} to ${String(max)}`, code);
  }
  return parsed(bits === 64 ? value : Number(value));
}
