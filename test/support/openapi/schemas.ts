import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { default as formats } from "ajv-formats";

import { OPENAPI, type Schema } from "./document.js";

// The base of all problems, and the refusal of an item, which has the facts of any reason.
const OPEN: ReadonlySet<string> = new Set(["Problem", "ItemProblem"]);

/**
 * The document, but no object has members and no enum has values that its schema does not name.
 * Clients must take such members and values, and the service of this version must not send them.
 */
const CLOSED = {
  ...OPENAPI,
  components: {
    ...OPENAPI.components,
    schemas: Object.fromEntries(
      Object.entries(OPENAPI.components.schemas).map(([name, schema]) => [name, closed(name, schema)]),
    ),
  },
};

function closed(name: string, schema: Schema): Schema {
  const values = schema["x-extensible-enum"];
  if (values !== undefined) return { ...schema, enum: values };
  if (schema["type"] !== "object" || OPEN.has(name)) return schema;
  return { ...schema, [schema["allOf"] === undefined ? "additionalProperties" : "unevaluatedProperties"]: false };
}

// Not strict: the document around the schemas has words of its own.
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(CLOSED, "document");

const known = new Map<Schema, ValidateFunction>();

/** Says what in the value is not as a schema of the document allows; empty if nothing is. */
export function differences(schema: Schema, value: unknown): readonly string[] {
  let validate = known.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(inDocument(schema));
    known.set(schema, validate);
  }
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`);
}

/** Lets the references of a schema that stands outside the document lead into it. */
function inDocument(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as Schema;
}
