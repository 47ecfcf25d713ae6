import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

import {
  echo,
  parsed,
  type ReadValue,
  type RequestProblem,
  unknownName,
  unparsed,
  type UnreadValue,
} from "../field-problem.js";
import { type NumberFields, TIMESTAMP } from "../json-support.js";
import { isJsonObject, type Json } from "./parse-json.js";
import { isEnum, readDecimal, readEnum, readNumber, readScalar, readString, scalarJson } from "./read-scalar.js";
import { parseTimestamp } from "./timestamp.js";

type ListField = DescField & { fieldKind: "list" };
export type MapField = DescField & { fieldKind: "map" };

/** The rules of a body that holds a whole message. */
export interface BodyRules {
  /** The fields that the body must not have, and where the client sends them: "in the path". */
  readonly elsewhere: ReadonlyMap<DescField, string>;
  /** Whether a null removes the value of the field, as in a PATCH. Otherwise it means absent. */
  readonly nullRemoves: boolean;
}

const ADVICE_MAX = 10;

const NO_RULES: BodyRules = { elsewhere: new Map(), nullRemoves: false };

/**
 * Fills one request message from JSON and from the texts of a path and a query. The fields have the
 * names of the contract. A value that does not fit is added to `problems` and leaves its field
 * unset.
 */
export class MessageReader {
  readonly problems: RequestProblem[] = [];
  readonly #target: ReflectMessage;
  readonly #numbers: NumberFields;

  constructor(desc: DescMessage, numbers: NumberFields) {
    this.#target = reflect(desc);
    this.#numbers = numbers;
  }

  get message(): Message {
    return this.#target.message;
  }

  refuse(field: string, { problem, code }: UnreadValue): void {
    this.problems.push({ field: echo(field), code, message: problem });
  }

  /** Refuses a name that is none of `known`. Only the first of very many names get advice. */
  refuseName(
    name: string,
    problem: string,
    { prefix = "", known }: { prefix?: string; known: readonly { readonly name: string }[] },
  ): void {
    const names = this.problems.length < ADVICE_MAX ? known.map((each) => each.name) : [];
    this.refuse(prefix + (name || '""'), unknownName(problem, name, names));
  }

  /** Reads the fields of an object. */
  readObject(json: Json, rules: BodyRules = NO_RULES): void {
    this.#readInto(this.#target, json, "", rules);
  }

  /**
   * Reads one field from a whole body. Problems inside an object omit the field's name: the client
   * did not write it.
   */
  readField(field: DescField, json: Json): void {
    const isMessage = field.fieldKind === "message" && isJsonObject(json);
    this.#readField(this.#target, field, json, isMessage ? "" : field.name);
  }

  /** Reads one field, or one more item of a repeated field, from a path or a query. */
  readText(field: DescField, text: string): void {
    const value = this.#readOne(field, textJson(field, text), field.name);
    if (value === undefined) return;
    if (field.fieldKind === "list") this.#target.get(field).add(value);
    else this.#set(this.#target, field, value, field.name);
  }

  /** Reads one pair of a map from a query. */
  readPair(field: MapField, key: string, text: string): void {
    this.#readPair(this.#target, field, { key, value: textJson(field, text), path: `${field.name}[${key}]` });
  }

  #readInto(target: ReflectMessage, json: Json, path: string, { elsewhere, nullRemoves } = NO_RULES): void {
    if (!isJsonObject(json)) {
      this.refuse(path, unparsed("must be an object", "WRONG_TYPE"));
      return;
    }
    const prefix = path === "" ? "" : `${path}.`;
    for (const [name, value] of Object.entries(json)) {
      const field = fieldNamed(target.desc, name);
      if (field === undefined)
        this.refuseName(name, "is not a field of this request", { prefix, known: target.desc.fields });
      else if (elsewhere.has(field)) {
        if (value === null) continue;
        const place = elsewhere.get(field) ?? "";
        this.refuse(prefix + name, unparsed(`is ${place} and must not be in the body`, "CONFLICT"));
      } else if (value === null && nullRemoves) this.#remove(target, field, prefix + name);
      else if (nullRemoves && field.fieldKind === "list" && Array.isArray(value) && value.length === 0)
        this.refuse(prefix + name, unparsed("must not be empty: leave it out if it stays as it is", "REQUIRED"));
      else this.#readField(target, field, value, prefix + name);
    }
  }

  /** The empty text of an optional field removes its value. No other field has such a value. */
  #remove(target: ReflectMessage, field: DescField, path: string): void {
    if (field.scalar === ScalarType.STRING && field.proto.proto3Optional) target.set(field, "");
    else this.refuse(path, unparsed("must not be null", "WRONG_TYPE"));
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
    else this.refuse(path, unparsed(`must not be sent together with ${chosen.name}`, "CONFLICT"));
  }

  #readList(target: ReflectMessage, field: ListField, json: Json, path: string): void {
    if (!Array.isArray(json)) {
      this.refuse(path, unparsed("must be an array", "WRONG_TYPE"));
      return;
    }
    for (const [index, item] of (json as readonly Json[]).entries()) {
      const value = this.#readOne(field, item, `${path}[${String(index)}]`);
      if (value !== undefined) target.get(field).add(value);
    }
  }

  #readMap(target: ReflectMessage, field: MapField, json: Json, path: string): void {
    if (!isJsonObject(json)) {
      this.refuse(path, unparsed("must be an object", "WRONG_TYPE"));
      return;
    }
    for (const [key, value] of Object.entries(json))
      this.#readPair(target, field, { key, value, path: `${path}.${key}` });
  }

  #readPair(
    target: ReflectMessage,
    field: MapField,
    { key, value: json, path }: { readonly key: string; readonly value: Json; readonly path: string },
  ): void {
    const text = readString(key);
    const typed = text.ok ? readScalar(field.mapKey, scalarJson(field.mapKey, text.value)) : text;
    if (!typed.ok) {
      this.refuse(path, unparsed(`has a key that ${typed.problem}`, typed.code));
      return;
    }
    const value = this.#readOne(field, json, path);
    if (value !== undefined) target.get(field).set(typed.value, value);
  }

  /** Reads one value of a field, a list or a map. Returns undefined when it refused the value. */
  #readOne(field: DescField, json: Json, path: string): unknown {
    if (field.message !== undefined && field.message.typeName !== TIMESTAMP) {
      const child = reflect(field.message);
      this.#readInto(child, json, path);
      return child;
    }
    const value = this.#readPlain(field, json);
    if (value.ok) return value.value;
    this.refuse(path, value);
    return undefined;
  }

  #readPlain(field: DescField, json: Json): ReadValue<unknown> {
    if (field.message !== undefined) return readTimestamp(field.message, json);
    if (isEnum(field)) return readEnum(field, json);
    if (this.#numbers.isDecimal(field)) return readDecimal(json);
    return this.#numbers.isNumber(field) ? readNumber(json) : readScalar(field.scalar, json);
  }
}

/** Returns the field that the contract gives this name. */
export function fieldNamed(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name);
}

function textJson(field: DescField, text: string): Json {
  return field.scalar === undefined ? text : scalarJson(field.scalar, text);
}

function readTimestamp(desc: DescMessage, json: Json): ReadValue<ReflectMessage> {
  const fields = parseTimestamp(typeof json === "string" ? json : "");
  if (!fields.ok) return unparsed(fields.problem, typeof json === "string" ? fields.code : "WRONG_TYPE");
  return parsed(reflect(desc, Object.assign(create(desc), fields.value)));
}
