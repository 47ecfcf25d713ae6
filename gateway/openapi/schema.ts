import {
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";

import { canBeNull, commentOf, lineOf } from "../../contract/comments.js";
import { extensionOf, type HttpContract } from "../../contract/contract.js";
import { enumName } from "../../contract/json/read-scalar.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";
import { fieldExample } from "./examples.js";
import { amountLimits, countLimits, listLimits, pairLimits, sequenceMin, textLimits } from "./limits.js";

type Direction = "request" | "response";

/** google.api.FieldBehavior.REQUIRED. */
const REQUIRED = 2;
/** The name of the schema for the refusal of one item of a batch. */
export const ITEM_PROBLEM_NAME = "ItemProblem";

// As src/domain/values/cents.ts reads amounts: above zero, at most 13 digits before the point.
const AMOUNT_PATTERN = "^(?!0(\\.0{1,2})?$)(0|[1-9][0-9]{0,12})(\\.[0-9]{1,2})?$";
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
    return this.#named(desc.name, () => ({
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

  /** The schema of a message in a request, without the fields that the path has. */
  request(desc: DescMessage, inPath: readonly DescField[] = []): JsonObject {
    return this.#named(desc.name, () => {
      const fields = desc.fields.filter((field) => !inPath.includes(field));
      const required = fields.filter((field) => this.isRequired(field)).map(({ name }) => name);
      return {
        type: "object",
        ...described(commentOf(desc)),
        properties: Object.fromEntries(fields.map((field) => [field.name, this.#field(field, "request")])),
        ...(required.length === 0 ? {} : { required }),
        ...membersOf(desc, fields),
        additionalProperties: false,
      };
    });
  }

  isRequired(field: DescField): boolean {
    return this.#isRequired(field);
  }

  /** The schema of a field in a path or a query: a text, or several. */
  parameter(field: DescField): JsonObject {
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
      return { type: "array", ...listLimits(comment), items: this.#one(field, "", form) };
    }
    return this.#one(field, comment, form);
  }

  /** The schema of one value of a field, a list or a map. */
  #one(field: DescField, comment: string, { direction, isText }: Form): JsonObject {
    if (isTime(field)) return { type: "string", format: "date-time" };
    if (field.message !== undefined) {
      return direction === "request" ? this.request(field.message) : this.response(field.message);
    }
    if (field.enum !== undefined) return direction === "request" ? closedEnum(field.enum) : this.#openEnum(field.enum);
    if (this.#contract.isDecimal(field)) return decimal(comment, { direction, isText });
    return scalar(field.scalar, { comment, direction, isNumber: this.#contract.isNumber(field) });
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
function closedEnum(desc: DescEnum): JsonObject {
  return { type: "string", enum: namesOf(desc) };
}

function valuesOf({ values }: DescEnum): readonly DescEnumValue[] {
  return values.filter(({ number }) => number !== 0);
}

function namesOf(desc: DescEnum): string[] {
  return valuesOf(desc).map(({ name }) => enumName(desc, name));
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

function isTime(field: DescField): boolean {
  return field.message?.typeName === TIMESTAMP;
}

function nullable(schema: JsonObject): JsonObject {
  return typeof schema["type"] === "string"
    ? { ...schema, type: [schema["type"], "null"] }
    : { anyOf: [schema, { type: "null" }] };
}

function decimal(comment: string, { direction, isText }: Form): JsonObject {
  const text = { type: "string", pattern: AMOUNT_PATTERN };
  if (isText) return text;
  const number = { type: "number", ...amountLimits(comment) };
  return direction === "response" ? number : { anyOf: [text, number] };
}

function scalar(
  type: ScalarType | undefined,
  { comment, direction, isNumber }: { comment: string; direction: Direction; isNumber: boolean },
): JsonObject {
  switch (type) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return { type: "number" };
    case ScalarType.STRING:
      return { type: "string", ...textLimits(comment, direction) };
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
        ? { type: "integer", format: "int64", minimum: sequenceMin(comment), maximum: Number.MAX_SAFE_INTEGER }
        : { type: "string", pattern: INT64_PATTERN };
  }
}

/** The rules between the fields of a request: exactly one of a oneof, and at least one field. */
function membersOf(desc: DescMessage, fields: readonly DescField[]): JsonObject {
  const choices = desc.oneofs
    .filter(({ fields: members }) => members.some((member) => fields.includes(member)))
    .map((oneof): JsonValue => {
      const one = oneof.fields.map(({ name }): JsonValue => ({ required: [name] }));
      const none = { not: { anyOf: one } };
      return { oneOf: lineOf(oneof).endsWith("Required.") ? one : [...one, none] };
    });
  return {
    ...(choices.length === 0 ? {} : { allOf: choices }),
    ...(/\bat least one of\b/.test(lineOf(desc)) ? { minProperties: 1 } : {}),
  };
}
