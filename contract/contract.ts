import {
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";

import { readRegistry } from "../runtime/descriptor-files.js";
import { packageFile } from "../runtime/files/package-file.js";
import { batchingOf } from "./batching.js";
import { assertJsonMappable, isHttpBody, type NumberFields } from "./json-support.js";
import { fieldNamesOf, parsePathTemplate, type PathTemplate, shapeOf } from "./path-template.js";
import { type Rpc, toRpc } from "./rpc.js";
import { type StreamRule, streamRuleOf } from "./stream-rule.js";

export const CONTRACT_URL = packageFile("dist/proto/kesc.binpb");

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The fields of the request message that the body holds: none, all that the path does not, or one.
 */
type BodyRule =
  | { readonly kind: "none" }
  | { readonly kind: "all" }
  | { readonly kind: "field"; readonly field: DescField }
  /** The field holds the body as it comes: a google.api.HttpBody. */
  | { readonly kind: "raw"; readonly field: DescField };

/** One HTTP method and path, and the rpc that serves it. */
export interface Route {
  readonly method: HttpMethod;
  readonly path: PathTemplate;
  /** In the order of the path. */
  readonly pathFields: readonly DescField[];
  /** The fields of the request message that neither body nor query holds, and where they are. */
  readonly elsewhere: ReadonlyMap<DescField, string>;
  readonly etag: EtagRule;
  readonly body: BodyRule;
  /** The field of the response message that becomes the HTTP body; undefined: the whole message. */
  readonly responseField: DescField | undefined;
  readonly rpc: Rpc;
  /** Only for an rpc that creates a resource: where clients find the resource. */
  readonly location: Location | undefined;
  /** Whether the body may have `bulkBytesMax` bytes instead of `bodyBytesMax`. */
  readonly bulk: boolean;
  /** Whether anybody may call it, without an API key. */
  readonly isPublic: boolean;
  /** Only for an rpc that streams its response. Such a route may share its path with another. */
  readonly stream: StreamRule | undefined;
}

/** The fields that hold the version of a resource (AIP-154); undefined: the message has none. */
interface EtagRule {
  /** The header If-Match fills it. */
  readonly request: DescField | undefined;
  /** A response shows it in the header ETag, too. */
  readonly response: DescField | undefined;
}

/** A path that is filled with fields of the resource in the response. */
export interface Location {
  readonly path: PathTemplate;
  readonly fields: readonly DescField[];
}

export interface HttpContract extends NumberFields {
  readonly routes: readonly Route[];
  readonly registry: FileRegistry;
}

/** The members of google.api.HttpRule that the gateway reads. */
interface HttpRule {
  readonly pattern: { readonly case?: string | undefined; readonly value?: unknown };
  readonly body: string;
  readonly responseBody: string;
  readonly additionalBindings: readonly HttpRule[];
}

interface MethodOptions {
  readonly http: DescExtension;
  readonly location: DescExtension;
  readonly bulk: DescExtension;
  readonly batchedBy: DescExtension;
  readonly public: DescExtension;
  readonly resumesBy: DescExtension;
  readonly streamsAt: DescExtension;
}

const METHODS: ReadonlyMap<string, HttpMethod> = new Map([
  ["get", "GET"],
  ["post", "POST"],
  ["put", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
]);

/**
 * Reads a serialized google.protobuf.FileDescriptorSet. Throws, with the name of the rpc, when the
 * gateway cannot serve an HTTP rule as it is written.
 */
export function readContract(descriptorSet: Uint8Array): HttpContract {
  const registry = readRegistry([descriptorSet]);
  const options = {
    http: extensionOf(registry, "google.api.http"),
    location: extensionOf(registry, "kesc.v1.location"),
    bulk: extensionOf(registry, "kesc.v1.bulk"),
    batchedBy: extensionOf(registry, "kesc.v1.batched_by"),
    public: extensionOf(registry, "kesc.v1.public"),
    resumesBy: extensionOf(registry, "kesc.v1.resumes_by"),
    streamsAt: extensionOf(registry, "kesc.v1.streams_at"),
  };
  const services = [...registry].filter((desc) => desc.kind === "service");
  const routes = services.flatMap(({ methods }) => methods.flatMap((method) => routesOf(method, options)));
  assertDistinct(routes);
  return { routes, registry, ...numberFields(registry) };
}

/** Finds the fields that JSON shows as numbers. Throws when one of them cannot be shown so. */
export function numberFields(registry: FileRegistry): NumberFields {
  const decimals = fieldsWith(registry, "kesc.v1.decimal");
  const numbers = fieldsWith(registry, "kesc.v1.number");
  for (const { parent, name, scalar } of numbers) {
    if (scalar !== ScalarType.INT64) throw new Error(`${parent.typeName} has the option number on ${name}: no int64`);
  }
  return { isDecimal: (field) => decimals.has(field), isNumber: (field) => numbers.has(field) };
}

/** Returns the message of that full name. Throws when the contract has none. */
export function messageOf(registry: FileRegistry, typeName: string): DescMessage {
  const desc = registry.getMessage(typeName);
  if (desc === undefined) throw new Error(`the contract has no message ${typeName}`);
  return desc;
}

/** Returns the rpc of that service and name. Throws when the contract has none. */
export function rpcOf(registry: FileRegistry, service: string, name: string): Rpc {
  const method = registry.getService(service)?.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`the contract has no rpc ${service}/${name}`);
  return toRpc(method);
}

/** Returns the option of that full name. Throws when the contract has none. */
export function extensionOf(registry: FileRegistry, typeName: string): DescExtension {
  const extension = registry.getExtension(typeName);
  if (extension === undefined) throw new Error(`the contract has no option ${typeName}`);
  return extension;
}

/** Returns the fields of all messages that have the option of that full name. */
function fieldsWith(registry: FileRegistry, option: string): ReadonlySet<DescField> {
  const extension = extensionOf(registry, option);
  const messages = [...registry].filter((desc) => desc.kind === "message");
  return new Set(messages.flatMap(({ fields }) => fields.filter((field) => getOption(field, extension) === true)));
}

function routesOf(method: DescMethod, options: MethodOptions): Route[] {
  const rule = httpRuleOf(method, options);
  if (rule === undefined) return [];
  try {
    const stream = streamOf(method, rule, options);
    const location = getOption(method, options.location) as string;
    const bulk = getOption(method, options.bulk) === true;
    const isPublic = getOption(method, options.public) === true;
    const batchedBy = getOption(method, options.batchedBy) as string;
    const rpc = batchedBy === "" ? toRpc(method) : { ...toRpc(method), batching: batchingOf(method, batchedBy) };
    return [rule, ...rule.additionalBindings].map((binding) => ({
      ...routeOf(method, binding, location),
      bulk,
      isPublic,
      rpc,
      stream,
    }));
  } catch (error) {
    throw new Error(`${method.parent.typeName}/${method.name}: ${(error as Error).message}`, { cause: error });
  }
}

/** The rule of google.api.http, or that of a stream beside another rpc; undefined: no route. */
function httpRuleOf(method: DescMethod, { http, streamsAt }: MethodOptions): HttpRule | undefined {
  if (hasOption(method, http)) return getOption(method, http) as HttpRule;
  const path = getOption(method, streamsAt) as string;
  if (path === "") return undefined;
  return { pattern: { case: "get", value: path }, body: "", responseBody: "", additionalBindings: [] };
}

/** Throws when the rpc takes a stream, or if the HTTP rule of its stream is more than a `get`. */
function streamOf(
  method: DescMethod,
  rule: HttpRule,
  { resumesBy, public: isPublic }: MethodOptions,
): StreamRule | undefined {
  if (method.methodKind === "unary") return undefined;
  if (method.methodKind !== "server_streaming") throw new Error("the gateway serves no rpc that takes a stream");
  if (rule.pattern.case !== "get" || rule.responseBody !== "" || rule.additionalBindings.length > 0) {
    throw new Error("the HTTP rule of a stream must be one get, with the whole response");
  }
  // The streams of callers without a key would need a bound of their own.
  if (getOption(method, isPublic) === true) throw new Error("a stream needs a key");
  return streamRuleOf(method, getOption(method, resumesBy) as string);
}

type RouteOfRule = Omit<Route, "bulk" | "isPublic" | "rpc" | "stream">;

function routeOf(method: DescMethod, rule: HttpRule, location: string): RouteOfRule {
  const httpMethod = METHODS.get(rule.pattern.case ?? "");
  if (httpMethod === undefined) throw new Error("the HTTP rule must have one of get, post, put, patch and delete");
  const path = parsePathTemplate(rule.pattern.value as string);
  const responseField = rule.responseBody === "" ? undefined : fieldOf(method.output, rule.responseBody);
  const body = bodyRuleOf(method, rule.body);
  const rawRequest = body.kind === "raw" ? body.field : undefined;
  assertJsonMappable(method.input, { direction: "request", except: rawRequest });
  const rawResponse = isHttpBody(responseField) ? responseField : undefined;
  assertJsonMappable(method.output, { direction: "response", except: rawResponse });
  const pathFields = fieldNamesOf(path).map((name) => scalarFieldOf(method.input, name));
  const etag = { request: etagOf(method.input), response: etagOf(resourceOf(method, responseField)) };
  const ifMatch = etag.request === undefined ? [] : [[etag.request, "in the header If-Match"] as const];
  return {
    method: httpMethod,
    path,
    pathFields,
    elsewhere: new Map([...pathFields.map((field) => [field, "in the path"] as const), ...ifMatch]),
    etag,
    body,
    responseField,
    location: location === "" ? undefined : locationOf(responseField?.message ?? method.output, location),
  };
}

function bodyRuleOf(method: DescMethod, body: string): BodyRule {
  if (body === "") return { kind: "none" };
  if (body === "*") return { kind: "all" };
  const field = fieldOf(method.input, body);
  return { kind: isHttpBody(field) ? "raw" : "field", field };
}

function locationOf(resource: DescMessage, location: string): Location {
  const path = parsePathTemplate(location);
  return { path, fields: fieldNamesOf(path).map((name) => scalarFieldOf(resource, name)) };
}

function fieldOf(desc: DescMessage, name: string): DescField {
  const field = desc.fields.find((candidate) => candidate.name === name);
  if (field === undefined) throw new Error(`${desc.typeName} has no field ${name}`);
  return field;
}

/** Returns the message that is the HTTP body; undefined: the body is another value. */
function resourceOf(method: DescMethod, responseField: DescField | undefined): DescMessage | undefined {
  if (responseField === undefined) return method.output;
  return responseField.fieldKind === "message" ? responseField.message : undefined;
}

/** Returns the message's version, a string. */
function etagOf(desc: DescMessage | undefined): DescField | undefined {
  return desc?.fields.find(
    ({ name, fieldKind, scalar }) => name === "etag" && fieldKind === "scalar" && scalar === ScalarType.STRING,
  );
}

function scalarFieldOf(desc: DescMessage, name: string): DescField {
  const field = fieldOf(desc, name);
  if (field.fieldKind !== "scalar") throw new Error(`a path cannot hold the field ${name}, which is not a scalar`);
  return field;
}

function assertDistinct(routes: readonly Route[]): void {
  const seen = new Map<string, Route>();
  for (const route of routes) {
    const claim = `${route.method} ${shapeOf(route.path)}`;
    // The header Accept says whether the client wants the stream or the other route.
    const key = route.stream === undefined ? claim : `${claim} as a stream`;
    const other = seen.get(key);
    if (other !== undefined) throw new Error(`${route.rpc.path} and ${other.rpc.path} both claim ${claim}`);
    seen.set(key, route);
  }
}
