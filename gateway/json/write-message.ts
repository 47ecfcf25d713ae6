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

import { valueOf } from "../contract/field-value.js";
import { RPC_STATUS, TIMESTAMP } from "../contract/mappable.js";
import { enumName } from "./read-scalar.js";
import { formatTimestamp, type TimestampFields } from "./timestamp.js";

type MessageWriter = (message: Message) => string;
type ValueWriter = (value: unknown) => string;

// What JSON takes for a number (RFC 8259), without an exponent.
const JSON_DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/**
 * Writes response messages as JSON. Every field is always there, under its name in the contract, so
 * that an answer has one shape: a message or a time that is not set, an enum's zero value and an
 * empty decimal are null.
 *
 * The way through a message is worked out once, not on each answer.
 */
export class MessageWriters {
  readonly #isDecimal: (field: DescField) => boolean;
  readonly #writeStatus: MessageWriter;
  readonly #writers = new Map<DescMessage, MessageWriter>();

  /** `writeStatus` writes a google.rpc.Status inside an answer. */
  constructor(isDecimal: (field: DescField) => boolean, writeStatus: MessageWriter) {
    this.#isDecimal = isDecimal;
    this.#writeStatus = writeStatus;
  }

  /** A writer of whole messages. */
  ofMessage(desc: DescMessage): MessageWriter {
    const known = this.#writers.get(desc);
    if (known !== undefined) return known;
    if (desc.typeName === RPC_STATUS) return this.#writeStatus;
    const fields: { readonly key: string; readonly write: MessageWriter }[] = [];
    const write: MessageWriter = (message) => {
      let text = "";
      for (const field of fields) text += field.key + field.write(message);
      return `{${text}}`;
    };
    // Known before its fields are: a message may hold itself.
    this.#writers.set(desc, write);
    for (const [index, field] of desc.fields.entries()) {
      fields.push({ key: `${index === 0 ? "" : ","}${JSON.stringify(field.name)}:`, write: this.ofField(field) });
    }
    return write;
  }

  /** A writer of one field's value, which takes the message that holds it. */
  ofField(field: DescField): MessageWriter {
    const write = this.#ofValue(field);
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
          .map(writeEntry(write))
          .join(",")}}`;
    }
    // Only a field with presence of its own (a message, or marked optional) can be unset.
    return (message) => {
      const value = valueOf(message, field);
      return value === undefined || !hasValue(message, field) ? "null" : write(value);
    };
  }

  #ofValue(field: DescField): ValueWriter {
    if (field.message?.typeName === TIMESTAMP) return (value) => `"${formatTimestamp(value as TimestampFields)}"`;
    if (field.message !== undefined) {
      const write = this.ofMessage(field.message);
      return (value) => write(value as Message);
    }
    if (field.enum !== undefined) return enumWriter(field.enum);
    return this.#isDecimal(field) ? writeDecimal : scalarWriter(field.scalar);
  }
}

function hasValue(message: Message, field: DescField): boolean {
  return field.presence === FeatureSet_FieldPresence.IMPLICIT || isFieldSet(message, field);
}

function writeEntry(write: ValueWriter): (entry: [string, unknown]) => string {
  return ([key, value]) => `${JSON.stringify(key)}:${write(value)}`;
}

/**
 * Writes the digits as they are. Text that is not a number, which a server should not send, stays a
 * string.
 */
function writeDecimal(value: unknown): string {
  const text = value as string;
  if (text === "") return "null";
  return JSON_DECIMAL.test(text) ? text : JSON.stringify(text);
}

/**
 * Names the value; one that this contract does not know yet, of a newer server, comes out as its
 * number in a string.
 */
function enumWriter(desc: DescEnum): ValueWriter {
  const names = new Map<unknown, string>(desc.values.map(({ number, name }) => [number, `"${enumName(desc, name)}"`]));
  names.set(0, "null");
  return (value) => names.get(value) ?? `"${String(value)}"`;
}

const NUMBERS_OF_64_BITS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

function scalarWriter(type: ScalarType): ValueWriter {
  if (type === ScalarType.STRING) return (value) => JSON.stringify(value);
  if (type === ScalarType.BYTES) return (value) => `"${base64Encode(value as Uint8Array)}"`;
  // More than most programs' JSON numbers hold.
  if (NUMBERS_OF_64_BITS.has(type)) return (value) => `"${String(value)}"`;
  // JSON has no NaN and no infinity.
  if (type === ScalarType.FLOAT || type === ScalarType.DOUBLE) {
    return (value) => (Number.isFinite(value) ? String(value) : `"${String(value)}"`);
  }
  return String;
}
