import {
  createFileRegistry,
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

import { batchingOf } from "./batching.js";
import { refuseUnmappable } from "./mappable.js";
import { fieldNames, parsePathTemplate, type PathTemplate, shapeOf } from "./path-template.js";
import { type Rpc, toRpc } from "./rpc.js";

/** Where the build puts the contract: beside gateway/, in the source tree as in dist/. */
export const CONTRACT_URL = new URL("../../proto/kesc.binpb", import.meta.url);

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Which part of the request message the body holds: nothing, all that the path does not, or one
 * field.
 */
type BodyRule =
  { readonly kind: "none" } | { readonly kind: "all" } | { readonly kind: "field"; readonly field: DescField };

/** One HTTP method and path that is answered by one rpc. */
export interface Route {
  readonly method: HttpMethod;
  readonly path: PathTemplate;
  /** The fields that the path holds, in the order of the path. */
  readonly pathFields: readonly DescField[];
  readonly body: BodyRule;
  /** The field of the response that is the whole answer; undefined: the response is. */
  readonly responseField: DescField | undefined;
  readonly rpc: Rpc;
  /** Where the answer, a new resource, is found afterwards. */
  readonly location: Location | undefined;
  /** Whether its body may be larger than that of others. */
  readonly bulk: boolean;
}

/** A path whose fields are fields of the resource that is answered. */
export interface Location {
  readonly path: PathTemplate;
  readonly fields: readonly DescField[];
}

export interface Contract {
  readonly routes: readonly Route[];
  readonly registry: FileRegistry;
  /** Whether a string field holds a decimal, which JSON shows as a number. */
  readonly isDecimal: (field: DescField) => boolean;
}

/** google.api.HttpRule, as far as the gateway reads it. */
interface HttpRule {
  readonly pattern: { readonly case?: string | undefined; readonly value?: unknown };
  readonly body: string;
  readonly responseBody: string;
  readonly additionalBindings: readonly HttpRule[];
}

interface Options {
  readonly http: DescExtension;
  readonly location: DescExtension;
  readonly bulk: DescExtension;
  readonly batchedBy: DescExtension;
  readonly decimal: DescExtension;
}

const METHODS: ReadonlyMap<string, HttpMethod> = new Map([
  ["get", "GET"],
  ["post", "POST"],
  ["put", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
]);

/**
 * Reads a serialized google.protobuf.FileDescriptorSet. Throws, naming the rpc, for HTTP rules that
 * the gateway cannot serve as written.
 */
export function readContract(descriptorSet: Uint8Array): Contract {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const options = {
    http: extensionOf(registry, "google.api.http"),
    location: extensionOf(registry, "kesc.v1.location"),
    bulk: extensionOf(registry, "kesc.v1.bulk"),
    batchedBy: extensionOf(registry, "kesc.v1.batched_by"),
    decimal: extensionOf(registry, "kesc.v1.decimal"),
  };
  const routes: Route[] = [];
  for (const desc of registry) {
    if (desc.kind === "service") routes.push(...desc.methods.flatMap((method) => routesOf(method, options)));
  }
  refuseDoubles(routes);
  const decimals = new WeakMap<DescField, boolean>();
  return { routes, registry, isDecimal: (field) => isDecimal(field, options.decimal, decimals) };
}

/** The message of that full name. Throws when the contract has none. */
export function messageOf(registry: FileRegistry, typeName: string): DescMessage {
  const desc = registry.getMessage(typeName);
  if (desc === undefined) throw new Error(`the contract has no message ${typeName}`);
  return desc;
}

/** The rpc of that service and name. Throws when the contract has none. */
export function rpcOf(registry: FileRegistry, service: string, name: string): Rpc {
  const method = registry.getService(service)?.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`the contract has no rpc ${service}/${name}`);
  return toRpc(method);
}

function extensionOf(registry: FileRegistry, typeName: string): DescExtension {
  const extension = registry.getExtension(typeName);
  if (extension === undefined) throw new Error(`the contract has no option ${typeName}`);
  return extension;
}

function isDecimal(field: DescField, option: DescExtension, known: WeakMap<DescField, boolean>): boolean {
  // An option is decoded from bytes on each look: once is enough.
  const answer = known.get(field) ?? getOption(field, option) === true;
  known.set(field, answer);
  return answer;
}

function routesOf(method: DescMethod, options: Options): Route[] {
  if (!hasOption(method, options.http)) return [];
  try {
    if (method.methodKind !== "unary") throw new Error("the gateway serves unary rpcs only");
    refuseUnmappable(method.input, "request");
    refuseUnmappable(method.output, "answer");
    const rule = getOption(method, options.http) as HttpRule;
    const location = getOption(method, options.location) as string;
    const bulk = getOption(method, options.bulk) === true;
    const batchedBy = getOption(method, options.batchedBy) as string;
    const rpc = batchedBy === "" ? toRpc(method) : { ...toRpc(method), batching: batchingOf(method, batchedBy) };
    return [rule, ...rule.additionalBindings].map((binding) => ({ ...routeOf(method, binding, location), bulk, rpc }));
  } catch (error) {
    throw new Error(`${method.parent.typeName}/${method.name}: ${(error as Error).message}`, { cause: error });
  }
}

function routeOf(method: DescMethod, rule: HttpRule, location: string): Omit<Route, "bulk" | "rpc"> {
  const httpMethod = METHODS.get(rule.pattern.case ?? "");
  if (httpMethod === undefined) throw new Error("its HTTP rule has none of get, post, put, patch and delete");
  const path = parsePathTemplate(rule.pattern.value as string);
  const responseField = rule.responseBody === "" ? undefined : fieldOf(method.output, rule.responseBody);
  return {
    method: httpMethod,
    path,
    pathFields: fieldNames(path).map((name) => plainFieldOf(method.input, name)),
    body: bodyRuleOf(method, rule.body),
    responseField,
    location: location === "" ? undefined : locationOf(responseField?.message ?? method.output, location),
  };
}

function bodyRuleOf(method: DescMethod, body: string): BodyRule {
  if (body === "") return { kind: "none" };
  return body === "*" ? { kind: "all" } : { kind: "field", field: fieldOf(method.input, body) };
}

function locationOf(resource: DescMessage, location: string): Location {
  const path = parsePathTemplate(location);
  return { path, fields: fieldNames(path).map((name) => plainFieldOf(resource, name)) };
}

function fieldOf(desc: DescMessage, name: string): DescField {
  const field = desc.fields.find((candidate) => candidate.name === name);
  if (field === undefined) throw new Error(`${desc.typeName} has no field ${name}`);
  return field;
}

/** A field that fits into a path: a single scalar. */
function plainFieldOf(desc: DescMessage, name: string): DescField {
  const field = fieldOf(desc, name);
  if (field.fieldKind !== "scalar") throw new Error(`${name} does not fit into a path`);
  return field;
}

function refuseDoubles(routes: readonly Route[]): void {
  const seen = new Map<string, Route>();
  for (const route of routes) {
    const key = `${route.method} ${shapeOf(route.path)}`;
    const other = seen.get(key);
    if (other !== undefined) throw new Error(`${route.rpc.path} and ${other.rpc.path} both claim ${key}`);
    seen.set(key, route);
  }
}
