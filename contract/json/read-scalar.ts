import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";

import { lineOf } from "../comments.js";
import { parsed, type ReadValue, unparsed } from "../field-problem.js";
import { type Json, JsonNumber } from "./parse-json.js";

export type ScalarValue = string | number | bigint | boolean | Uint8Array;

const LONE_SURROGATE = /\p{Surrogate}/u;
const WHOLE_NUMBER = /^-?[0-9]+$/;

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
export function readScalar(type: ScalarType, json: Json): ReadValue<ScalarValue> {
  const bounds = BOUNDS.get(type);
  if (bounds !== undefined) return readInteger(bounds, json);
  if (type === ScalarType.STRING) return readString(json);
  if (type === ScalarType.BYTES) return readBytes(json);
  if (type === ScalarType.BOOL)
    return typeof json === "boolean" ? parsed(json) : unparsed("must be true or false", "WRONG_TYPE");
  return readFloat(type, json);
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
/** The server refuses numbers below the least that a field takes: -1 in the words of 0. */
const SAFE: Bounds = { bits: 64, min: -SAFE_MAX, max: SAFE_MAX };

/** Reads a number of 64 bits that every program can hold in a JSON number. Refuses a string. */
export function readNumber(json: Json): ReadValue<number | bigint> {
  return readInteger(SAFE, typeof json === "string" ? null : json);
}

/**
 * Reads a decimal from a JSON number or from a string. A number counts by its value, because the
 * client's JSON library chooses its spelling: 1e3 and 1000.000 are 1000. A string stays as it is:
 * the server checks whether it is a decimal.
 */
export function readDecimal(json: Json): ReadValue<string> {
  if (json instanceof JsonNumber) {
    const plain = plainNumber(json.text);
    return plain === undefined
      ? unparsed(`must have at most ${String(DIGITS_MAX)} digits`, "OUT_OF_RANGE")
      : parsed(plain);
  }
  return typeof json === "string"
    ? readString(json)
    : unparsed("must be a number, or a string that contains one", "WRONG_TYPE");
}

const JSON_NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
// More than any field takes. Without a limit, ten characters such as 1e99999999 would make a text
// of 100 MB.
const DIGITS_MAX = 64;

/**
 * Writes the value of a JSON number with its shortest digits and without an exponent. Returns
 * undefined for a text that is not a JSON number, or has too many digits.
 */
function plainNumber(text: string): string | undefined {
  const match = text.length > DIGITS_MAX ? null : JSON_NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const all = `${whole}${fraction}`.replace(/0+$/, "");
  const digits = all.replace(/^0+/, "");
  if (digits === "") return "0";
  // How many of the digits stand before the point; negative: the zeros that follow it.
  const point = whole.length + Number(exponent) - (all.length - digits.length);
  if (Math.abs(point) > DIGITS_MAX) return undefined;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const integer = digits.slice(0, point).padEnd(point, "0");
  return digits.length <= point ? `${sign}${integer}` : `${sign}${integer}.${digits.slice(point)}`;
}

/** Reads the name of an enum value as `enumName` writes it. The zero value has no name. */
export function readEnum(field: EnumField, json: Json): ReadValue<number> {
  const names = requestNames(field);
  const value = names.includes(json as string)
    ? field.enum.values.find(({ name }) => enumName(field.enum, name) === json)
    : undefined;
  if (value !== undefined) return parsed(value.number);
  return unparsed(`must be one of ${names.join(", ")}`, typeof json === "string" ? "UNKNOWN_VALUE" : "WRONG_TYPE");
}

/** A field, a list or a map of the values of an enum. */
export type EnumField = DescField & { readonly enum: DescEnum };

export function isEnum(field: DescField): field is EnumField {
  return field.enum !== undefined;
}

const namesOfFields = new WeakMap<DescField, readonly string[]>();

/**
 * The names that a request may have in the field: those of a comment that begins with "ACTIVE or
 * PAUSED.", else all.
 */
export function requestNames(field: EnumField): readonly string[] {
  const known = namesOfFields.get(field);
  if (known !== undefined) return known;
  const all = field.enum.values.filter(({ number }) => number !== 0).map(({ name }) => enumName(field.enum, name));
  const [first = ""] = lineOf(field).split(".");
  const named = first.split(/, | or /).map((word) => word.toLowerCase());
  const names = named.every((name) => all.includes(name)) ? named : all;
  namesOfFields.set(field, names);
  return names;
}

/** Returns the value's name in lower case, without the prefix that all values share. */
export function enumName(desc: DescEnum, name: string): string {
  return name.slice(desc.sharedPrefix?.length ?? 0).toLowerCase();
}

/**
 * Converts a text from a path or a query to the JSON that the type expects. A text that does not
 * fit the type stays a string, which the reader of the type then refuses. A whole number has digits
 * alone: a program wrote it, and no JSON library chose its spelling.
 */
export function scalarJson(type: ScalarType, text: string): Json {
  if (type === ScalarType.STRING || type === ScalarType.BYTES) return text;
  if (type === ScalarType.BOOL) return text === "true" ? true : text === "false" ? false : text;
  const form = BOUNDS.has(type) ? /^-?(?:0|[1-9][0-9]*)$/ : /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
  return form.test(text) ? new JsonNumber(text) : text;
}

export function readString(json: Json): ReadValue<string> {
  if (typeof json !== "string") return unparsed("must be a string", "WRONG_TYPE");
  // UTF-8 cannot encode half of a surrogate pair, so the message could not be sent.
  return LONE_SURROGATE.test(json)
    ? unparsed("must be valid Unicode: it contains half of a surrogate pair")
    : parsed(json);
}

function readBytes(json: Json): ReadValue<Uint8Array> {
  if (typeof json !== "string") return unparsed("must be a string in base64", "WRONG_TYPE");
  try {
    return parsed(base64Decode(json));
  } catch {
    return unparsed("must be a string in base64");
  }
}

function readFloat(type: ScalarType, json: Json): ReadValue<number> {
  const value = json instanceof JsonNumber ? Number(json.text) : NaN;
  const fits = Number.isFinite(type === ScalarType.FLOAT ? Math.fround(value) : value);
  return fits
    ? parsed(value)
    : unparsed("must be a number", json instanceof JsonNumber ? "OUT_OF_RANGE" : "WRONG_TYPE");
}

function readInteger({ bits, min, max }: Bounds, json: Json): ReadValue<number | bigint> {
  // Many programs cannot hold 64 bits in a JSON number, so a string is allowed too.
  const number = json instanceof JsonNumber ? plainNumber(json.text) : undefined;
  const text = number ?? (bits === 64 && typeof json === "string" ? json : "");
  // The limit keeps BigInt away from texts of a million digits.
  const digits = text.length > 2 * DIGITS_MAX ? undefined : WHOLE_NUMBER.exec(text)?.[0];
  const value = digits === undefined ? undefined : BigInt(digits);
  if (value === undefined) {
    return unparsed("must be a whole number", json instanceof JsonNumber ? "FORMAT" : "WRONG_TYPE");
  }
  if (value < min || value > max) {
    return unparsed(`must be a whole number from ${String(min)} to ${String(max)}`, "OUT_OF_RANGE");
  }
  return parsed(bits === 64 ? value : Number(value));
}
