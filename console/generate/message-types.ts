import { type DescField, type DescMessage, type FileRegistry, ScalarType } from "@bufbuild/protobuf";

import { canBeNull } from "../../contract/comments.js";
import { numberFields } from "../../contract/contract.js";
import { NUMBERS_OF_64_BITS } from "../../contract/json/write-message.js";
import { TIMESTAMP } from "../../contract/json-support.js";

const PACKAGES = /^kesc\.(?:admin\.)?v1\./;

/**
 * The types of messages as JSON, as a file of TypeScript. A field is null where `MessageWriter`
 * writes null. An enum is a string, because a newer server knows more values.
 */
export function messageTypes(registry: FileRegistry): string {
  const { isNumber } = numberFields(registry);
  const typeOf = (field: DescField): string => {
    const one = typeOfOne(field);
    if (field.fieldKind === "list") return `readonly ${one}[]`;
    if (field.fieldKind === "map") return `Readonly<Record<string, ${one}>>`;
    return canBeNull(field) ? `${one} | null` : one;
  };
  const typeOfOne = (field: DescField): string => {
    if (field.message !== undefined && PACKAGES.test(field.message.typeName)) return nameOf(registry, field.message);
    if (field.message !== undefined) return field.message.typeName === TIMESTAMP ? "string" : "unknown";
    if (field.enum !== undefined || field.scalar === ScalarType.STRING) return "string";
    if (field.scalar === ScalarType.BOOL) return "boolean";
    return NUMBERS_OF_64_BITS.has(field.scalar) && !isNumber(field) ? "string" : "number";
  };
  const members = (fields: readonly (readonly [name: string, type: string])[]): string =>
    fields.map(([name, type]) => `  readonly ${name}: ${type};\n`).join("");
  const descs = [...registry].filter(({ typeName }) => PACKAGES.test(typeName));
  const messages = descs.filter((desc) => desc.kind === "message");
  const rpcs = descs.flatMap((desc) => (desc.kind === "service" ? desc.methods : []));
  return [
    "// Made from the contract by console/generate. DO NOT EDIT.\n",
    ...messages.map((desc) => {
      const fields = desc.fields.map((field) => [field.name, typeOf(field)] as const);
      return `export type ${nameOf(registry, desc)} = {\n${members(fields)}};\n`;
    }),
    "/** The responses, by the names of the rpcs. */",
    `export interface Responses {\n${members(
      rpcs.map(({ parent, name, output }) => [`"${parent.name}/${name}"`, nameOf(registry, output)]),
    )}}\n`,
  ].join("\n");
}

/** Both contracts have an Organization. The one of kesc.v1 is a V1Organization. */
function nameOf(registry: FileRegistry, { typeName }: DescMessage): string {
  const name = typeName.replace(PACKAGES, "").replaceAll(".", "");
  const isTwice = typeName.startsWith("kesc.v1.") && registry.getMessage(`kesc.admin.v1.${name}`) !== undefined;
  return isTwice ? `V1${name}` : name;
}
