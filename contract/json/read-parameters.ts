import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

import { unparsed } from "../field-problem.js";
import { TIMESTAMP } from "../json-support.js";
import { fieldNamed, type MapField, type MessageReader } from "./read-message.js";

interface Parameter {
  readonly field: DescField;
  /** The key of a pair: "order_id" in "metadata[order_id]". */
  readonly key: string | undefined;
}

/**
 * Reads the fields of a request from names and texts, as a query has them. A repeated field takes
 * its values one by one ("status=failed&status=canceled"), a map its pairs: "metadata[order_id]=17"
 * or, since many generators make no call of the first, "metadata=order_id=17".
 */
export class ParameterReader {
  readonly #reader: MessageReader;
  readonly #desc: DescMessage;
  readonly #isAllowed: (field: DescField) => boolean;
  readonly #seen = new Set<string>();

  constructor(reader: MessageReader, desc: DescMessage, isAllowed: (field: DescField) => boolean) {
    this.#reader = reader;
    this.#desc = desc;
    this.#isAllowed = isAllowed;
  }

  /** The names of all parameters: "status", "metadata[…]". */
  get names(): readonly string[] {
    return this.fields.map((field) => (field.fieldKind === "map" ? `${field.name}[…]` : field.name));
  }

  get fields(): readonly DescField[] {
    return this.#desc.fields.filter((field) => this.#allows(field));
  }

  /** Reads one parameter. Returns false if there is none of that name. */
  read(name: string, text: string | undefined): boolean {
    const parameter = this.#parameterNamed(name);
    if (parameter === undefined) return false;
    const { field, key } = parameter;
    if (isMap(field) && key === undefined) {
      const [, first, value] = /^([^=]*)=(.*)$/s.exec(text ?? "") ?? [];
      if (first !== undefined) return this.read(`${name}[${first}]`, value);
      this.#reader.refuse(name, unparsed(`must be sent as ${name}[key]=value or ${name}=key=value, for each pair`));
    } else if (text === undefined) this.#reader.refuse(name, unparsed("must be percent-encoded UTF-8"));
    else if (this.#seen.has(name) && field.fieldKind !== "list")
      this.#reader.refuse(name, unparsed("must be sent only once", "REPEATED"));
    else if (text !== "" || takesEmptyText(field)) this.#readText(field, key, text);
    this.#seen.add(name);
    return true;
  }

  #readText(field: DescField, key: string | undefined, text: string): void {
    if (isMap(field) && key !== undefined) this.#reader.readPair(field, key, text);
    else this.#reader.readText(field, text);
  }

  #parameterNamed(name: string): Parameter | undefined {
    const [, mapName, key] = /^([^[]+)\[(.*)\]$/s.exec(name) ?? [];
    const field = fieldNamed(this.#desc, mapName ?? name);
    if (field === undefined || !this.#allows(field)) return undefined;
    return key !== undefined && !isMap(field) ? undefined : { field, key };
  }

  #allows(field: DescField): boolean {
    return isTextual(field) && this.#isAllowed(field);
  }
}

function isMap(field: DescField): field is MapField {
  return field.fieldKind === "map";
}

/** Whether texts can hold the field: itself, its items or the values of its pairs. */
function isTextual(field: DescField): boolean {
  return field.message === undefined || field.message.typeName === TIMESTAMP;
}

/** Whether the empty text is a value of the field. For other fields it means unset, like null. */
function takesEmptyText(field: DescField): boolean {
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
}
