import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

import type { Refusal } from "./gen/messages.js";
import { ENUMS, type Field, MESSAGES } from "./gen/tables.js";
import { formatTime, type Time } from "./time.js";

/** A decoded message, under the names of the contract. What is absent has no member. */
export type Message = Record<string, unknown>;

/** Reads a google.rpc.Status inside a message. */
export type ReadRefusal = (status: Message) => Refusal;

/** Decodes a message. Skips the fields that only a newer service knows. */
export function decode(type: string, bytes: Uint8Array, readRefusal: ReadRefusal): Message {
  return new Decoder(new BinaryReader(bytes), readRefusal).message(type, bytes.length);
}

class Decoder {
  readonly #reader: BinaryReader;
  readonly #readRefusal: ReadRefusal;

  constructor(reader: BinaryReader, readRefusal: ReadRefusal) {
    this.#reader = reader;
    this.#readRefusal = readRefusal;
  }

  message(type: string, end: number): Message {
    const fields = MESSAGES[type] ?? [];
    const found = new Map<Field, unknown>();
    while (this.#reader.pos < end) {
      const [number, wireType] = this.#reader.tag();
      const field = fields.find((candidate) => candidate.number === number);
      if (field === undefined) this.#reader.skip(wireType, number);
      else if (field.holds === "list") listIn(found, field).push(...this.#items(field, wireType));
      else if (field.holds === "map") listIn(found, field).push(this.#pair());
      else found.set(field, this.#one(field));
    }
    return messageOf(fields, (field) => {
      const value = found.get(field);
      // Object.fromEntries makes "__proto__" a member like any other.
      if (field.holds === "map") return Object.fromEntries((value ?? []) as [string, string][]);
      return value;
    });
  }

  /** Numbers of a list may come packed into one field. */
  #items(field: Field, wireType: WireType): unknown[] {
    const isPacked = wireType === WireType.LengthDelimited && ["bool", "int32", "int64", "enum"].includes(field.kind);
    if (!isPacked) return [this.#one(field)];
    const items: unknown[] = [];
    const length = this.#reader.uint32();
    for (const end = this.#reader.pos + length; this.#reader.pos < end;) items.push(this.#one(field));
    return items;
  }

  #pair(): [string, string] {
    const pair: [string, string] = ["", ""];
    const length = this.#reader.uint32();
    for (const end = this.#reader.pos + length; this.#reader.pos < end;) {
      const [number] = this.#reader.tag();
      pair[number === 1 ? 0 : 1] = this.#reader.string();
    }
    return pair;
  }

  #one({ kind, type = "" }: Field): unknown {
    const reader = this.#reader;
    switch (kind) {
      case "string":
      case "decimal":
        return reader.string();
      case "bool":
        return reader.bool();
      case "int32":
        return reader.int32();
      case "int64":
        return Number(reader.int64());
      case "bytes":
        return reader.bytes();
      case "enum":
        return nameIn(type, reader.int32());
      case "time":
        return formatTime(this.#inner("google.protobuf.Timestamp") as unknown as Time);
      case "refusal":
        return this.#readRefusal(this.#inner("google.rpc.Status"));
      case "message":
        return this.#inner(type);
    }
  }

  #inner(type: string): Message {
    const length = this.#reader.uint32();
    return this.message(type, this.#reader.pos + length);
  }
}

/** Makes a message with its members in the order of the contract. */
export function messageOf(fields: readonly Field[], valueOf: (field: Field) => unknown): Message {
  const message: Message = {};
  for (const field of fields) {
    const value = valueOf(field) ?? zeroOf(field);
    if (value !== undefined) message[field.name] = value;
  }
  return message;
}

function nameIn(type: string, number: number): string {
  return Object.entries(ENUMS[type] ?? {}).find(([, known]) => known === number)?.[0] ?? "unrecognized";
}

function listIn(found: Map<Field, unknown>, field: Field): unknown[] {
  const known = found.get(field) as unknown[] | undefined;
  const list = known ?? [];
  if (known === undefined) found.set(field, list);
  return list;
}

/** The value of a field that is not on the wire. Undefined: it is absent. */
function zeroOf({ kind, holds, isOptional, oneof }: Field): unknown {
  if (holds === "list") return [];
  if (holds === "map") return {};
  if (isOptional === true || oneof !== undefined) return undefined;
  switch (kind) {
    case "string":
    case "decimal":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
      return 0;
    case "enum":
      return "unrecognized";
    case "bytes":
      return new Uint8Array();
    case "time":
    case "message":
    case "refusal":
      return undefined;
  }
}
