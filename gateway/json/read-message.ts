import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

import { TIMESTAMP } from "../contract/mappable.js";
import { echo, type FieldProblem, type Parsed, parsed, unparsed } from "../problems/field-problem.js";
import { isJsonObject, type Json } from "./parse-json.js";
import { readDecimal, readEnum, readScalar, readString, scalarJson } from "./read-scalar.js";
import { parseTimestamp } from "./timestamp.js";

type ListField = DescField & { fieldKind: "list" };
type MapField = DescField & { fieldKind: "map" };

/**
 * Fills one request message from JSON and from the texts of a path and a query, by the names that
 * the fields have in the contract. Whatever does not fit becomes a problem, all of them together,
 * and leaves its field unset.
 */
export class MessageReader {
  readonly problems: FieldProblem[] = [];
  readonly #target: ReflectMessage;
  readonly #isDecimal: (field: DescField) => boolean;

  constructor(desc: DescMessage, isDecimal: (field: DescField) => boolean) {
    this.#target = reflect(desc);
    this.#isDecimal = isDecimal;
  }

  get message(): Message {
    return this.#target.message;
  }

  refuse(field: string, message: string): void {
    this.problems.push({ field: echo(field), message });
  }

  /** Reads the fields of an object. Those in `taken` stand in the path already. */
  readObject(json: Json, taken: ReadonlySet<DescField>): void {
    this.#readInto(this.#target, json, "", taken);
  }

  /**
   * Reads one field. An object's own fields are named without the field's name: the caller did not
   * write it.
   */
  readField(field: DescField, json: Json): void {
    const isMessage = field.fieldKind === "message" && isJsonObject(json);
    this.#readField(this.#target, field, json, isMessage ? "" : field.name);
  }

  /** Reads one field, or one more item of a repeated field, from a text that is not JSON. */
  readText(field: DescField, text: string): void {
    const value = this.#readOne(field, textJson(field, text), field.name);
    if (value === undefined) return;
    if (field.fieldKind === "list") this.#target.get(field).add(value);
    else this.#set(this.#target, field, value, field.name);
  }

  #readInto(target: ReflectMessage, json: Json, path: string, taken?: ReadonlySet<DescField>): void {
    if (!isJsonObject(json)) {
      this.refuse(path, "must be an object");
      return;
    }
    const prefix = path === "" ? "" : `${path}.`;
    const fields = fieldsByName(target.desc);
    for (const [name, value] of Object.entries(json)) {
      const field = fields.get(name);
      if (field === undefined) this.refuse(prefix + name, "is not a field of this request");
      else if (value === null) continue;
      else if (taken?.has(field) === true) this.refuse(prefix + name, "is in the path and must not be in the body too");
      else this.#readField(target, field, value, prefix + name);
    }
  }

  #readField(target: ReflectMessage, field: DescField, json: Json, path: string): void {
    if (json === null) return;
    if (field.fieldKind === "list") this.#readList(target, field, json, path);
    else if (field.fieldKind === "map") this.#readMap(target, field, json, path);
    else {
      const value = this.#readOne(field, json, path);
      if (value !== undefined) this.#set(target, field, value, path);
    }
  }

  #set(target: ReflectMessage, field: DescField, value: unknown, path: string): void {
    const chosen = field.oneof === undefined ? undefined : target.oneofCase(field.oneof);
    if (chosen === undefined) target.set(field, value);
    else this.refuse(path, `must not be given together with ${chosen.name}`);
  }

  #readList(target: ReflectMessage, field: ListField, json: Json, path: string): void {
    if (!Array.isArray(json)) {
      this.refuse(path, "must be an array");
      return;
    }
    for (const [index, item] of (json as readonly Json[]).entries()) {
      const value = this.#readOne(field, item, `${path}[${String(index)}]`);
      if (value !== undefined) target.get(field).add(value);
    }
  }

  #readMap(target: ReflectMessage, field: MapField, json: Json, path: string): void {
    if (!isJsonObject(json)) {
      this.refuse(path, "must be an object");
      return;
    }
    for (const [name, item] of Object.entries(json)) {
      const key = readString(name);
      const typed = key.ok ? readScalar(field.mapKey, scalarJson(field.mapKey, key.value)) : key;
      const itemPath = `${path}.${name}`;
      if (!typed.ok) {
        this.refuse(itemPath, `has a key that ${typed.problem}`);
        continue;
      }
      const value = this.#readOne(field, item, itemPath);
      if (value !== undefined) target.get(field).set(typed.value, value);
    }
  }

  /**
   * One value: the field's own, or one of the list or the map that it is. Undefined when it was
   * refused.
   */
  #readOne(field: DescField, json: Json, path: string): unknown {
    if (field.message !== undefined && field.message.typeName !== TIMESTAMP) {
      const child = reflect(field.message);
      this.#readInto(child, json, path);
      return child;
    }
    const value = this.#readPlain(field, json);
    if (value.ok) return value.value;
    this.refuse(path, value.problem);
    return undefined;
  }

  #readPlain(field: DescField, json: Json): Parsed<unknown> {
    if (field.message !== undefined) return readTimestamp(field.message, json);
    if (field.enum !== undefined) return readEnum(field.enum, json);
    return this.#isDecimal(field) ? readDecimal(json) : readScalar(field.scalar, json);
  }
}

/** Whether a text, in a path or a query, can hold the field or one item of it. */
export function isTextual(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message === undefined || field.message.typeName === TIMESTAMP);
}

/**
 * Whether the empty text is a value of the field; for any other field it says nothing, like null.
 */
export function takesEmptyText(field: DescField): boolean {
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
}

const fieldsByNameOf = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** The field of that name, as the contract writes it. */
export function fieldsByName(desc: DescMessage): ReadonlyMap<string, DescField> {
  const known = fieldsByNameOf.get(desc);
  if (known !== undefined) return known;
  const fields = new Map(desc.fields.map((field) => [field.name, field]));
  fieldsByNameOf.set(desc, fields);
  return fields;
}

function textJson(field: DescField, text: string): Json {
  return field.scalar === undefined ? text : scalarJson(field.scalar, text);
}

function readTimestamp(desc: DescMessage, json: Json): Parsed<ReflectMessage> {
  const fields = parseTimestamp(typeof json === "string" ? json : "");
  if (!fields.ok) return unparsed(fields.problem);
  return parsed(reflect(desc, Object.assign(create(desc), fields.value)));
}
