import { readFileSync } from "node:fs";

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";

import { CONTRACT_URL, readContract, type Route } from "../../../contract/contract.js";
import { enumName } from "../../../contract/json/read-scalar.js";
import type { Rpc } from "../../../contract/rpc.js";
import { readContract as readServerContract } from "../../../src/grpc/messages/contract.js";
import type { Method } from "./grpc-caller.js";

// Requests of any rpc, by the descriptors of the contract: nothing here knows an rpc by its name.

/** Every route of the contract, and which of its string fields hold decimals. */
export const { routes: ROUTES, isDecimal } = readContract(readFileSync(CONTRACT_URL));

const { files: registry } = readServerContract();

/** The route of an rpc, by its name or its path. Throws when it has none. */
export function routeOf(nameOrPath: string): Route {
  const name = `/${nameOrPath.slice(nameOrPath.lastIndexOf("/") + 1)}`;
  const route = ROUTES.find(({ rpc }) => rpc.path.endsWith(name));
  if (route === undefined) throw new Error(`the contract has no route for ${nameOrPath}`);
  return route;
}

/** The rpc as a method that takes any bytes, and returns its response as protobuf's JSON. */
export function jsonMethod({ path, output }: Rpc): Method<Uint8Array, JsonObject> {
  return {
    path,
    requestSerialize: (bytes) => Buffer.from(bytes),
    responseDeserialize: (bytes) => {
      const options = { registry, useProtoFieldName: true, alwaysEmitImplicit: true };
      return toJson(output, fromBinary(output, bytes), options) as JsonObject;
    },
  };
}

/** Encodes the message that the JSON describes, with enum values by name or number. */
export function bytesOf(desc: DescMessage, json: JsonObject): Uint8Array {
  return toBinary(desc, fromJson(desc, json, { registry }));
}

/** A request as it goes on the wire. */
export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** The request of the route for `message`, which is protobuf's JSON with enum values by number. */
export function restRequest(route: Route, message: JsonObject): RestRequest {
  const { method } = route;
  const inPath = new Set(route.pathFields.map(({ name }) => name));
  const others = route.rpc.input.fields
    .filter(({ name }) => !inPath.has(name) && message[name] !== undefined)
    .map((field) => [field.name, restValue(field, message[field.name] ?? null)] as const);
  const path = pathOf(route, message);
  if (route.body.kind !== "none") return { method, path, body: JSON.stringify(Object.fromEntries(others)) };
  const query = others.flatMap(([name, value]) => parametersOf(name, value)).join("&");
  return { method, path: query === "" ? path : `${path}?${query}`, body: undefined };
}

/** The route's path with the fields of the message in it. */
function pathOf(route: Route, message: JsonObject): string {
  const segments = route.path.segments.map(({ kind, name }) =>
    kind === "field" ? encodeURIComponent(textOf(message[name])) : name,
  );
  return `/${segments.join("/")}`;
}

/** The query parameters of a field: one for each item of a list and for each pair of a map. */
export function parametersOf(name: string, value: JsonValue): string[] {
  const parameter = (key: string, item: JsonValue): string => `${key}=${encodeURIComponent(textOf(item))}`;
  if (Array.isArray(value)) return value.map((item) => parameter(name, item));
  if (typeof value !== "object" || value === null) return [parameter(name, value)];
  return Object.entries(value).map(([key, item]) => parameter(encodeURIComponent(`${name}[${key}]`), item));
}

/** A value as REST writes it: enum values by their short names. */
export function restValue(field: DescField, value: JsonValue): JsonValue {
  if (field.enum === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => restEnum(field.enum, item));
  return restEnum(field.enum, value);
}

function restEnum(desc: DescEnum, value: JsonValue): JsonValue {
  const named = desc.values.find(({ number }) => number === value);
  return named === undefined ? value : enumName(desc, named.name);
}

/** A text as it is, and nothing as the empty text; any other value as JSON. */
export function textOf(value: JsonValue | undefined): string {
  const present = value ?? "";
  return typeof present === "string" ? present : JSON.stringify(present);
}
