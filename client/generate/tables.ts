import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

import { commentOf } from "../../contract/comments.js";
import type { HttpContract } from "../../contract/contract.js";
import { enumName } from "../../contract/json/read-scalar.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";
import { errorReasonOf } from "../../gateway/problems/reasons.js";
import type { ClientContract, ClientRpc } from "./client-contract.js";
import { docOf, STATUS_CODES } from "./message-types.js";

const HEAD = `// Made from the contract by client/generate. DO NOT EDIT.
import type * as messages from "./messages.js";

/** A field of a message. */
export interface Field {
  readonly name: string;
  readonly number: number;
  readonly kind: "string" | "decimal" | "bool" | "int32" | "int64" | "bytes" | "enum" | "time" | "message" | "refusal";
  /** The name of the message or the enum. */
  readonly type?: string;
  readonly holds?: "list" | "map";
  /** Whether absent is another value than zero. */
  readonly isOptional?: true;
  readonly oneof?: string;
}

/** How an rpc is called. */
export interface Rpc {
  readonly path: string;
  readonly shape: "unary" | "paged" | "watch" | "export" | "import";
  readonly request: string;
  readonly response: string;
  /** The list in the response whose items an iteration yields. */
  readonly items?: string;
  /** The list in the request that the caller gives item by item. */
  readonly given?: string;
  /** The field of the request that says after which item the stream begins. */
  readonly after?: string;
  readonly writes?: true;
}

export interface Unary<Request, Response, TakesKey extends boolean> {
  readonly unary: { readonly request: Request; readonly response: Response; readonly takesKey: TakesKey };
}
export interface Paged<Request, Response, Item> {
  readonly paged: { readonly request: Request; readonly response: Response; readonly item: Item };
}
export interface Stream<Request, Item> {
  readonly stream: { readonly request: Request; readonly item: Item };
}
export interface Import<Given, Item> {
  readonly import: { readonly given: Given; readonly item: Item };
}
`;

/** The services as types, and the tables of rpcs, messages and enums, as a file of TypeScript. */
export function tables(contract: HttpContract, client: ClientContract): string {
  const names = [...client.services.values()].flat().map(({ method }) => JSON.stringify(method.localName));
  const reasons = errorReasonOf(contract.registry);
  const codes = reasons.values.slice(1).map(({ name }) => name.slice(reasons.sharedPrefix?.length ?? 0));
  const services = [...client.services].map(([service, rpcs]) => {
    const members = rpcs.map((rpc) => `${docOf(commentOf(rpc.method), "  ")}  readonly ${rpcType(rpc)};\n`);
    return `${docOf(commentOf(service))}export interface ${service.name} {\n${members.join("")}}\n`;
  });
  const rpcs = [...client.services].map(([{ name }, each]) => [
    name,
    Object.fromEntries(each.map((rpc) => [rpc.method.localName, rpcRow(rpc)])),
  ]);
  const messages = new Set([...client.requests, ...client.responses, ...client.details]);
  const fields = [...messages].map((desc) => [keyOf(desc), desc.fields.map((field) => fieldRow(contract, field))]);
  const enums = [...client.enums].map((desc) => [desc.name, namesIn(desc)]);
  const table = (name: string, type: string, rows: readonly unknown[][]): string => {
    const lines = rows.map(([key, row]) => `  ${JSON.stringify(key)}: ${JSON.stringify(row)},\n`);
    return `export const ${name}: ${type} = {\n${lines.join("")}};\n`;
  };
  return [
    HEAD,
    `export type RpcName = ${names.join(" | ")};\n`,
    ...services,
    `export const STATUS_CODES: readonly messages.StatusCode[] = ${JSON.stringify(STATUS_CODES)};\n`,
    `export const REASONS: readonly messages.KescErrorReason[] = ${JSON.stringify(codes)};\n`,
    table("SERVICES", "Readonly<Record<string, Readonly<Record<string, Rpc>>>>", rpcs),
    table("MESSAGES", "Readonly<Record<string, readonly Field[]>>", fields),
    table("ENUMS", "Readonly<Record<string, Readonly<Record<string, number>>>>", enums),
  ].join("\n");
}

function rpcType({ method, shape, items, given, takesKey }: ClientRpc): string {
  const [request, response] = [`messages.${method.input.name}`, `messages.${method.output.name}`];
  const item = `messages.${items?.message?.name ?? ""}`;
  switch (shape) {
    case "unary":
      return `${method.localName}: Unary<${request}, ${response}, ${String(takesKey)}>`;
    case "paged":
      return `${method.localName}: Paged<${request}, ${response}, ${item}>`;
    case "watch":
    case "export":
      return `${method.localName}: Stream<${request}, ${item}>`;
    case "import":
      return `${method.localName}: Import<messages.${given?.message?.name ?? ""}, ${item}>`;
  }
}

function rpcRow({ method, shape, items, given, after, writes }: ClientRpc): object {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    shape,
    request: keyOf(method.input),
    response: keyOf(method.output),
    items: items?.name,
    given: given?.name,
    after,
    writes: writes || undefined,
  };
}

function fieldRow(contract: HttpContract, field: DescField): object {
  const { name, number, fieldKind } = field;
  const type = field.message === undefined ? field.enum?.name : keyOf(field.message);
  return {
    name,
    number,
    kind: kindOf(contract, field),
    type: type === TIMESTAMP || type === RPC_STATUS ? undefined : type,
    holds: fieldKind === "list" || fieldKind === "map" ? fieldKind : undefined,
    isOptional: field.proto.proto3Optional || undefined,
    oneof: field.oneof?.name,
  };
}

const KINDS: ReadonlyMap<ScalarType | undefined, string> = new Map([
  [ScalarType.STRING, "string"],
  [ScalarType.BOOL, "bool"],
  [ScalarType.INT32, "int32"],
  [ScalarType.INT64, "int64"],
  [ScalarType.BYTES, "bytes"],
]);

function kindOf(contract: HttpContract, field: DescField): string {
  if (field.message?.typeName === TIMESTAMP) return "time";
  if (field.message?.typeName === RPC_STATUS) return "refusal";
  if (field.message !== undefined) return "message";
  if (field.enum !== undefined) return "enum";
  if (contract.isDecimal(field)) return "decimal";
  const kind = KINDS.get(field.scalar);
  const isOwn = field.parent.typeName.startsWith("kesc.");
  // An int64 without the option can be beyond 2^53, where a number is not exact any more.
  const isInexact = kind === "int64" && isOwn && !contract.isNumber(field);
  const isKeyOfNoText = field.fieldKind === "map" && (field.mapKey !== ScalarType.STRING || kind !== "string");
  if (kind === undefined || isInexact || isKeyOfNoText) {
    throw new Error(`the client knows no field like ${field.parent.typeName}.${field.name}`);
  }
  return kind;
}

function namesIn(desc: DescEnum): Record<string, number> {
  const values = desc.values.filter(({ number }) => number !== 0);
  return Object.fromEntries(values.map(({ name, number }) => [enumName(desc, name), number]));
}

/** The name of a message in the tables. Only those of other packages have theirs before it. */
function keyOf({ typeName }: DescMessage): string {
  return typeName.replace(/^kesc\.v1\./, "");
}
