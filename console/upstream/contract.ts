import { type DescMethod, fromBinary, getOption, ScalarType, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { lineOf } from "../../contract/comments.js";
import { CONTRACT_URL, extensionOf } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import { JsonMessages } from "../../contract/json/json-messages.js";
import { type Json, JsonNumber } from "../../contract/json/parse-json.js";
import { enumName as enumNameOf } from "../../contract/json/read-scalar.js";
import { valueOf } from "../../contract/json-support.js";
import { packageFile } from "../../runtime/files/package-file.js";

/** The descriptor sets of the operators' contract, and of that of organizations. */
export const CONTRACT_URLS = [CONTRACT_URL, packageFile("dist/proto/kesc-admin.binpb")];

/** The fields of a request, with the names and the forms of REST. */
export type Fields = Readonly<Record<string, unknown>>;

/** The rpcs of both contracts, with JSON in the form of the REST API. */
export class ConsoleContract extends JsonMessages {
  /** By "Service/Name". */
  readonly #methods = new Map(
    [...this.methods.values()].map((method) => [`${method.parent.name}/${method.name}`, method]),
  );
  readonly #ofOrganization = extensionOf(this.registry, "kesc.v1.of_organization");

  /** Returns "/package.Service/Name" of "Service/Name". */
  pathOf(rpc: string): string {
    const { parent, name } = this.methodOf(rpc);
    return `/${parent.typeName}/${name}`;
  }

  /**
   * Encodes a request, or returns what is wrong with its values. Throws for a field that the rpc
   * does not have: a bug of the console.
   */
  encode(rpc: string, fields: Fields): Buffer | readonly RequestProblem[] {
    const reader = this.reader(this.methodOf(rpc));
    reader.readObject(jsonOf(fields));
    const unknown = reader.problems.find(({ code }) => code === "UNKNOWN_FIELD");
    if (unknown !== undefined) throw new Error(`${rpc}: ${unknown.field} ${unknown.message}`);
    if (reader.problems.length > 0) return reader.problems;
    return Buffer.from(toBinary(this.methodOf(rpc).input, reader.message));
  }

  /** Encodes a request that has nothing but bytes in one field. */
  encodePiece(rpc: string, field: string, bytes: Uint8Array): Buffer {
    const number = this.methodOf(rpc).input.fields.find(({ name }) => name === field)?.number;
    if (number === undefined) throw new Error(`${rpc} has no field ${field}`);
    return Buffer.from(new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish());
  }

  /** Returns the bytes in one field of a response. */
  decodePiece(rpc: string, field: string, bytes: Uint8Array): Uint8Array {
    const { output } = this.methodOf(rpc);
    const desc = output.fields.find(({ name }) => name === field);
    if (desc?.scalar !== ScalarType.BYTES) throw new Error(`${rpc} has no bytes in ${field}`);
    return valueOf(fromBinary(output, bytes), desc) as Uint8Array;
  }

  /** Decodes a response. Every field of the message is there, and null if it is not set. */
  decode(rpc: string, bytes: Uint8Array): Fields {
    return JSON.parse(this.writeResponse(this.methodOf(rpc), bytes)) as Fields;
  }

  /** Returns the comment of a value of an enum of either contract. Empty if there is none. */
  meaningOf(enumName: string, value: string): string {
    const desc = this.registry.getEnum(`kesc.v1.${enumName}`) ?? this.registry.getEnum(`kesc.admin.v1.${enumName}`);
    const found = desc?.values.find((each) => enumNameOf(desc, each.name) === value);
    return found === undefined ? "" : lineOf(found);
  }

  /** Whether a call of the rpc names an organization in its metadata. */
  isOfOrganization(rpc: string): boolean {
    const method = this.methodOf(rpc);
    return method.parent.file.proto.package === "kesc.v1" || getOption(method, this.#ofOrganization) === true;
  }

  /** Returns "Service/Name". Throws for an rpc that neither contract has: a bug of the console. */
  methodOf(rpc: string): DescMethod {
    const method = this.#methods.get(rpc);
    if (method === undefined) throw new Error(`the contract has no rpc ${rpc}`);
    return method;
  }
}

/** Returns what JSON.parse would return of the fields' text. */
function jsonOf(value: unknown): Json {
  if (typeof value === "number") return new JsonNumber(String(value));
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value !== "object" || value === null) return value as Json;
  const given = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(given.map(([name, each]) => [name, jsonOf(each)]));
}
