import {
  type DescEnum,
  type DescField,
  type DescMessage,
  isFieldSet,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

import { type NumberFields, RPC_STATUS, TIMESTAMP, valueOf } from "../json-support.js";
import { enumName } from "./read-scalar.js";
import { formatTimestamp, type TimestampFields } from "./timestamp.js";

type WriteMessage = (message: Message) => string;
type WriteValue = (value: unknown) => string;

// A JSON number (RFC 8259) without an exponent.
const JSON_DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/**
 * Writes response messages as JSON, under the names of the contract. It writes every field, so that
 * a resource always has the same members. A field is null if the message does not have it, and only
 * then: "" and 0 are values.
 *
 * The functions for a message are made once: the kind of a field does not change between requests.
 */
export class MessageWriter {
  readonly #numbers: NumberFields;
  readonly #writeStatus: WriteMessage;
  readonly #messageWriters = new Map<DescMessage, WriteMessage>();

  /** `writeStatus` writes a google.rpc.Status inside a message. */
  constructor(numbers: NumberFields, writeStatus: WriteMessage) {
    this.#numbers = numbers;
    this.#writeStatus = writeStatus;
  }

  write(desc: DescMessage, message: Message): string {
    return this.#messageWriter(desc)(message);
  }

  /** Writes only the value of one field. */
  writeField(field: DescField, message: Message): string {
    return this.#fieldWriter(field)(message);
  }

  #messageWriter(desc: DescMessage): WriteMessage {
    const known = this.#messageWriters.get(desc);
    if (known !== undefined) return known;
    if (desc.typeName === RPC_STATUS) return this.#writeStatus;
    const fields: { readonly key: string; readonly write: WriteMessage }[] = [];
    const write: WriteMessage = (message) => {
      let text = "";
      for (const field of fields) text += field.key + field.write(message);
      return `{${text}}`;
    };
    // Stored before the loop, because a field may have the type of its own message.
    this.#messageWriters.set(desc, write);
    for (const [index, field] of desc.fields.entries()) {
      const key = `${index === 0 ? "" : ","}${JSON.stringify(field.name)}:`;
      fields.push({ key, write: this.#fieldWriter(field) });
    }
    return write;
  }

  #fieldWriter(field: DescField): WriteMessage {
    const write = this.#valueWriter(field);
    if (field.oneof !== undefined) {
      const { oneof } = field;
      return (message) =>
        isFieldSet(message, field) ? write((valueOf(message, oneof) as { value: unknown }).value) : "null";
    }
    if (field.fieldKind === "list") {
      return (message) => `[${(valueOf(message, field) as unknown[]).map((item) => write(item)).join(",")}]`;
    }
    if (field.fieldKind === "map") {
      return (message) =>
        `{${Object.entries(valueOf(message, field) as object)
          .map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`)
          .join(",")}}`;
    }
    return (message) => {
      const value = valueOf(message, field);
      return value === undefined || !hasValue(message, field) ? "null" : write(value);
    };
  }

  #valueWriter(field: DescField): WriteValue {
    if (field.message?.typeName === TIMESTAMP) return (value) => `"${formatTimestamp(value as TimestampFields)}"`;
    if (field.message !== undefined) {
      const write = this.#messageWriter(field.message);
      return (value) => write(value as Message);
    }
    if (field.enum !== undefined) return enumWriter(field.enum);
    if (this.#numbers.isNumber(field)) return writeNumber;
    return this.#numbers.isDecimal(field) ? writeDecimal : scalarWriter(field.scalar);
  }
}

/** Only messages and fields marked `optional` can be unset. */
function hasValue(message: Message, field: DescField): boolean {
  return field.presence === FeatureSet_FieldPresence.IMPLICIT || isFieldSet(message, field);
}

/**
 * Writes the digits unchanged. A text that is not a number, a bug of the server, stays a string.
 */
function writeDecimal(value: unknown): string {
  const text = value as string;
  return JSON_DECIMAL.test(text) ? text : JSON.stringify(text);
}

/** A value outside the range, a bug of the server, becomes a string, as without the option. */
function writeNumber(value: unknown): string {
  const text = String(value);
  return Number.isSafeInteger(Number(text)) ? text : `"${text}"`;
}

/**
 * Writes the value's name. A value that only a newer contract knows becomes its number, as a
 * string.
 */
function enumWriter(desc: DescEnum): WriteValue {
  const names = new Map<unknown, string>(desc.values.map(({ number, name }) => [number, `"${enumName(desc, name)}"`]));
  return (value) => names.get(value) ?? `"${String(value)}"`;
}

export const NUMBERS_OF_64_BITS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

function scalarWriter(type: ScalarType): WriteValue {
  if (type === ScalarType.STRING) return (value) => JSON.stringify(value);
  if (type === ScalarType.BYTES) return (value) => `"${base64Encode(value as Uint8Array)}"`;
  // A string, because many programs cannot hold 64 bits in a JSON number.
  if (NUMBERS_OF_64_BITS.has(type)) return (value) => `"${String(value)}"`;
  if (type === ScalarType.FLOAT || type === ScalarType.DOUBLE) {
    // JSON has no NaN and no infinity.
    return (value) => (Number.isFinite(value) ? String(value) : `"${String(value)}"`);
  }
  return String;
}
