import {
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";

import { canBeNull, commentOf, lineOf } from "../../contract/comments.js";
import { extensionOf, type HttpContract } from "../../contract/contract.js";
import { type EnumField, enumName, isEnum, requestNames } from "../../contract/json/read-scalar.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";
import { fieldExample } from "./examples.js";
import { amountLimits, countLimits, listLimits, pairLimits, sequenceMin, textLimits, textPattern } from "./limits.js";

type Direction = "request" | "response";

/** google.api.FieldBehavior.REQUIRED. */
const REQUIRED = 2;
/** The name of the schema for the refusal of one item of a batch. */
export const ITEM_PROBLEM_NAME = "ItemProblem";

// As src/domain/values/cents.ts reads amounts: above zero, at most 13 digits before the point.
const AMOUNT_PATTERN = "^(?!0(\\.0{1,2})?$)(0|[1-9][0-9]{0,12})(\\.[0-9]{1,2})?$";
/** A pair of a map in a query. Generators of three languages could not send an object there. */
const PAIR = { type: "string", pattern: "^[^=]+=" };
const INT64_PATTERN = "^-?[0-9]{1,19}$";

/**
 * Makes the JSON Schemas of the messages of a contract, in the form of JSON that `MessageReader`
 * reads and `MessageWriter` writes. Collects those that have a name in `components`.
 */
export class Schemas {
  readonly components = new Map<string, JsonObject>();
  readonly #contract: HttpContract;
  readonly #isRequired: (field: DescField) => boolean;

  constructor(contract: HttpContract) {
    this.#contract = contract;
    const behavior = extensionOf(contract.registry, "google.api.field_behavior");
    this.#isRequired = (field) => (getOption(field, behavior) as readonly number[]).includes(REQUIRED);
  }

  /** The schema of a message in a response. Every member is there; later versions may add some. */
  response(desc: DescMessage): JsonObject {
    if (desc.typeName === RPC_STATUS) return ref(ITEM_PROBLEM_NAME);
    // Generators give the name …Response to what an operation returns.
    return this.#named(desc.name.replace(/Response$/, "Result"), () => ({
      type: "object",
      ...described(commentOf(desc)),
      properties: Object.fromEntries(desc.fields.map((field) => [field.name, this.#field(field, "response")])),
      required: desc.fields.map(({ name }) => name),
    }));
  }

  /** The schema of one field of a response. */
  responseField(field: DescField): JsonObject {
    return this.#field(field, "response");
  }

  /** The schema of a message in a request, without the fields that the path or a header has. */
  request(desc: DescMessage, { elsewhere = [], nullRemoves = false }: RequestRules = {}): JsonObject {
    return this.#named(desc.name, () => {
      const fields = desc.fields.filter((field) => !elsewhere.includes(field));
      const choice = desc.oneofs.find((oneof) => lineOf(oneof).endsWith("Required."));
      if (choice === undefined) return this.#requestOf(desc, fields, { nullRemoves });
      const others = fields.filter((field) => !choice.fields.includes(field));
      const variants = choice.fields.map((field) =>
        this.#named(`${pascal(field.name)}${desc.name}`, () => ({
          ...this.#requestOf(desc, [field, ...others], { nullRemoves, chosen: field }),
          description: commentOf(field),
        })),
      );
      return { ...described(commentOf(desc)), oneOf: variants };
    });
  }

  /** The schema of a request with these fields, of which it must have `chosen`. */
  #requestOf(
    desc: DescMessage,
    fields: readonly DescField[],
    { nullRemoves, chosen }: { nullRemoves: boolean; chosen?: DescField },
  ): JsonObject {
    const required = fields.filter((field) => field === chosen || this.isRequired(field)).map(({ name }) => name);
    const schemaOf = (field: DescField): JsonObject => {
      const schema = this.#field(field, "request");
      const isGiven = required.includes(field.name);
      if (nullRemoves ? /\bempty text removes\b/.test(lineOf(field)) : !isGiven) return nullable(schema);
      return isGiven || nullRemoves ? { ...notEmpty(schema), ...schema } : schema;
    };
    return {
      type: "object",
      ...described(commentOf(desc)),
      properties: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])),
      ...(required.length === 0 ? {} : { required }),
      ...(/\bat least one of\b/.test(lineOf(desc)) ? { minProperties: 1 } : {}),
      additionalProperties: false,
    };
  }

  isRequired(field: DescField): boolean {
    return this.#isRequired(field);
  }

  /** The schema of a field in a path or a query: a text, or several. */
  parameter(field: DescField): JsonObject {
    if (field.fieldKind === "map") {
      const { maxProperties } = pairLimits(lineOf(field)).object;
      return { type: "array", ...(maxProperties === undefined ? {} : { maxItems: maxProperties }), items: PAIR };
    }
    return this.#shape(field, lineOf(field), { direction: "request", isText: true });
  }

  #named(name: string, make: () => JsonObject): JsonObject {
    if (!this.components.has(name)) {
      // Stored before the fields are looked at: a field may have the type of its own message.
      this.components.set(name, {});
      this.components.set(name, make());
    }
    return ref(name);
  }

  #field(field: DescField, direction: Direction): JsonObject {
    const comment = commentOf(field);
    const schema = this.#shape(field, lineOf(field), { direction, isText: false });
    const isNullable = direction === "response" && canBeNull(field);
    const example = field.message === undefined || isTime(field) ? fieldExample(field, direction) : undefined;
    return {
      ...(isNullable ? nullable(schema) : schema),
      ...described(comment),
      ...(example === undefined ? {} : { examples: [example] }),
      ...(field.deprecated ? { deprecated: true } : {}),
    };
  }

  #shape(field: DescField, comment: string, form: Form): JsonObject {
    if (field.fieldKind === "map") {
      const { object, value } = pairLimits(comment);
      return { type: "object", ...object, additionalProperties: { ...this.#one(field, "", form), ...value } };
    }
    if (field.fieldKind === "list") {
      return { type: "array", ...listLimits(comment), items: this.#item(field, form) };
    }
    return this.#one(field, comment, form);
  }

  /** No text in a list of a request is empty. */
  #item(field: DescField, form: Form): JsonObject {
    const isText = form.direction === "request" && field.scalar === ScalarType.STRING;
    return { ...this.#one(field, "", form), ...(isText ? { minLength: 1 } : {}) };
  }

  /** The schema of one value of a field, a list or a map. */
  #one(field: DescField, comment: string, form: Form): JsonObject {
    const { direction } = form;
    if (isTime(field)) return { type: "string", format: "date-time" };
    if (field.message !== undefined) {
      return direction === "request" ? this.request(field.message) : this.response(field.message);
    }
    if (isEnum(field)) return direction === "request" ? closedEnum(field) : this.#openEnum(field.enum);
    if (this.#contract.isDecimal(field)) return decimal(comment, form);
    const isGiven = direction === "request" && (this.isRequired(field) || field.proto.proto3Optional);
    const isText = field.scalar === ScalarType.STRING && direction === "request";
    return {
      ...scalar(field.scalar, { comment, isGiven, isNumber: this.#contract.isNumber(field) }),
      ...(isText ? textPattern(field.name, comment, isGiven) : {}),
    };
  }

  /** The values of this version: a client that refuses others would break with a later one. */
  #openEnum(desc: DescEnum): JsonObject {
    return this.#named(desc.name, () => {
      const lines = valuesOf(desc).map((value) => `- \`${enumName(desc, value.name)}\`: ${lineOf(value)}`);
      return {
        type: "string",
        description: `${commentOf(desc)}\n\n${lines.join("\n")}`,
        "x-extensible-enum": namesOf(desc),
      };
    });
  }
}

/** The service refuses any other value. */
function closedEnum(field: EnumField): JsonObject {
  return { type: "string", enum: [...requestNames(field)] };
}

function valuesOf({ values }: DescEnum): readonly DescEnumValue[] {
  return values.filter(({ number }) => number !== 0);
}

function namesOf(desc: DescEnum): string[] {
  return valuesOf(desc).map(({ name }) => enumName(desc, name));
}

/** Where the fields of a request are, and what null means (contract/json/read-message.ts). */
interface RequestRules {
  readonly elsewhere?: readonly DescField[];
  /** Whether it is a PATCH: null removes what can be removed, and is refused of other members. */
  readonly nullRemoves?: boolean;
}

interface ScalarRules {
  readonly comment: string;
  /** Whether an empty value differs from an absent one. */
  readonly isGiven: boolean;
  readonly isNumber: boolean;
}

interface Form {
  readonly direction: Direction;
  /** Whether the value stands in a path or a query. */
  readonly isText: boolean;
}

export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function described(description: string): JsonObject {
  return description === "" ? {} : { description };
}

/** "moved" → "Moved". */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function isTime(field: DescField): boolean {
  return field.message?.typeName === TIMESTAMP;
}

/** The refusal of an empty value, which protobuf cannot tell from an absent one. */
function notEmpty({ type, enum: words }: JsonObject): JsonObject {
  if (type === "array") return { minItems: 1 };
  return type === "string" && words === undefined ? { minLength: 1 } : {};
}

/** In a request null is the same as an absent member. */
function nullable(schema: JsonObject): JsonObject {
  const { description, examples, deprecated, ...shape } = schema;
  const about = JSON.parse(JSON.stringify({ description, examples, deprecated })) as JsonObject;
  // Some generators make the null of an enum a value of its own.
  const type = shape["enum"] === undefined ? shape["type"] : undefined;
  if (typeof type === "string") return { ...shape, type: [type, "null"], ...about };
  if (Array.isArray(shape["oneOf"])) return { oneOf: [...shape["oneOf"], { type: "null" }], ...about };
  return { anyOf: [shape, { type: "null" }], ...about };
}

function decimal(comment: string, { direction, isText }: Form): JsonObject {
  const text = { type: "string", pattern: AMOUNT_PATTERN };
  if (isText) return text;
  // Without a format generators of Go make float32, which loses cents from 131,072 shillings on.
  // Of `anyOf` that of Rust makes a struct without members.
  const number = { type: "number", format: "double", ...amountLimits(comment) };
  return direction === "response" ? number : { oneOf: [text, number] };
}

function scalar(type: ScalarType | undefined, { comment, isGiven, isNumber }: ScalarRules): JsonObject {
  switch (type) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.STRING:
      return { type: "string", ...textLimits(comment, isGiven) };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "int32", ...countLimits(comment) };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
    case undefined:
      return isNumber
        ? {
            type: "integer",
            format: "int64",
            minimum: sequenceMin(comment, isGiven),
            maximum: Number.MAX_SAFE_INTEGER,
          }
        : { type: "string", pattern: INT64_PATTERN };
  }
}
