import { type DescField, type DescMethod, getOption, type JsonObject, type JsonValue } from "@bufbuild/protobuf";

import { commentOf } from "../../contract/comments.js";
import { extensionOf, type HttpContract, type Route } from "../../contract/contract.js";
import { MessageWriter } from "../../contract/json/write-message.js";
import { isHttpBody } from "../../contract/json-support.js";
import type { StreamRule } from "../../contract/stream-rule.js";
import { columnsOf } from "../forms/csv.js";
import { formsOf } from "../forms/forms.js";
import { type Problems, RATE_LIMIT_HEADERS } from "./errors.js";
import { parameterExample, requestExample, responseExample } from "./examples.js";
import type { Schemas } from "./schema.js";

/** The routes of one method and path: the call, the stream, or both in this order. */
export type OperationRoutes = readonly [Route, ...Route[]];

export interface OperationDependencies {
  readonly contract: HttpContract;
  readonly schemas: Schemas;
  readonly problems: Problems;
}

/** Returns the rpc that the route serves. */
export function methodOf({ registry }: HttpContract, { rpc }: Route): DescMethod {
  const [, service = "", name] = rpc.path.split("/");
  const method = registry.getService(service)?.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`the contract has no rpc ${rpc.path}`);
  return method;
}

/** The name of a service for people: AccountService becomes Account. */
export function tagOf({ parent }: DescMethod): string {
  return parent.name.replace(/Service$/, "");
}

/** Makes the operation of one method and path. */
export function operationOf(deps: OperationDependencies, routes: OperationRoutes): JsonObject {
  const { contract, problems } = deps;
  const [route] = routes;
  const methods = routes.map((each) => methodOf(contract, each));
  const [method] = methods as [DescMethod];
  const reasons = problems.reasonsOf(routes, methods);
  const scope = scopeOf(contract, method);
  const body = requestBody(deps, route);
  return {
    operationId: method.name,
    tags: [tagOf(method)],
    ...(method.deprecated ? { deprecated: true } : {}),
    summary: summaryOf(method),
    description: [...methods.map(descriptionOf), scopeText(scope)].join("\n\n"),
    parameters: [...parametersOf(deps, routes), ...headersOf(deps, routes, method)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...successes(deps, routes), ...problems.responsesFor(reasons) },
    // OpenAPI would allow the scope in the list of a key, too, but some programs refuse it there.
    security: [{ ApiKeyHeader: [] }, { Bearer: [] }],
    ...(scope === "" ? {} : { "x-required-scope": scope }),
  };
}

function scopeOf({ registry }: HttpContract, method: DescMethod): string {
  return getOption(method, extensionOf(registry, "kesc.v1.required_scope")) as string;
}

function scopeText(scope: string): string {
  return scope === "" ? "Every valid key may call it, whatever its scopes." : `The key needs the scope \`${scope}\`.`;
}

const FIRST_SENTENCE = /^(.*?)\.(?:\s+|$)/s;

/** The first sentence of the comment, without its period. */
function summaryOf(method: DescMethod): string {
  return FIRST_SENTENCE.exec(commentOf(method))?.[1] ?? "";
}

/** The comment without what the summary says. */
function descriptionOf(method: DescMethod, index: number): string {
  const comment = commentOf(method);
  const text = index === 0 ? comment.replace(FIRST_SENTENCE, "") : comment;
  return `${text}\n\ngRPC: \`${method.parent.typeName}/${method.name}\`.`.trim();
}

/** The fields in the path, and those in the query. A field of several routes is named once. */
function parametersOf({ schemas }: OperationDependencies, routes: OperationRoutes): JsonObject[] {
  const byName = new Map<string, JsonObject>();
  for (const route of routes) {
    for (const field of route.pathFields) {
      byName.set(field.name, parameter(schemas, field, "path"));
    }
    if (route.body.kind === "all") continue;
    for (const field of route.rpc.input.fields) {
      if (route.elsewhere.has(field) || (route.body.kind !== "none" && route.body.field === field)) continue;
      if (byName.has(field.name)) continue;
      byName.set(field.name, parameter(schemas, field, "query"));
    }
  }
  return [...byName.values()];
}

function parameter(schemas: Schemas, field: DescField, place: "path" | "query"): JsonObject {
  const example = parameterExample(field, place);
  return {
    name: field.name,
    in: place,
    ...(place === "path" || schemas.isRequired(field) ? { required: true } : {}),
    description: commentOf(field) + (field.fieldKind === "map" ? pairText(field) : ""),
    schema: schemas.parameter(field),
    ...(example === undefined ? {} : { example }),
  };
}

function pairText({ name }: DescField): string {
  return ` Each item is a pair \`key=value\`. The form \`${name}[key]=value\` is taken, too, also of keys with \`=\`.`;
}

function headersOf(
  { contract: { registry } }: OperationDependencies,
  routes: OperationRoutes,
  method: DescMethod,
): JsonObject[] {
  const takesKey = getOption(method, extensionOf(registry, "kesc.v1.takes_idempotency_key")) === true;
  const names = [
    ...(takesKey ? ["IdempotencyKey"] : []),
    ...(routes.some(({ etag }) => etag.request !== undefined) ? ["IfMatch"] : []),
    ...(routes.some(({ stream }) => stream?.resumption !== undefined) ? ["LastEventId"] : []),
    "GrpcTimeout",
    "RequestId",
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function requestBody(
  { schemas }: OperationDependencies,
  { body, rpc, elsewhere, method }: Route,
): JsonObject | undefined {
  switch (body.kind) {
    case "none":
      return undefined;
    case "raw":
      return { description: commentOf(body.field), content: { "*/*": {} } };
    case "field":
      return { content: { "application/json": { schema: schemas.parameter(body.field) } } };
    case "all": {
      const required = rpc.input.fields.some((field) => !elsewhere.has(field) && schemas.isRequired(field));
      const schema = schemas.request(rpc.input, { elsewhere: [...elsewhere.keys()], nullRemoves: method === "PATCH" });
      return { required, content: { "application/json": { schema, example: requestExample(rpc.input) ?? {} } } };
    }
  }
}

function doneText(hasLines: boolean): string {
  return `The call was done.${hasLines ? ` With \`Accept: ${LINES}\` the body has one item on each line.` : ""}`;
}

/** The responses without a problem. */
function successes(deps: OperationDependencies, routes: OperationRoutes): JsonObject {
  const [route] = routes;
  const isRepeatable = route.location !== undefined || commentOf(methodOf(deps.contract, route)).includes("replay");
  const requestId = {
    "X-Request-Id": { $ref: "#/components/headers/RequestId" },
    ...RATE_LIMIT_HEADERS,
  };
  const replayed = { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } };
  const content = contentOf(deps, routes);
  const etag = route.etag.response === undefined ? {} : { ETag: { $ref: "#/components/headers/ETag" } };
  const done = { headers: { ...requestId, ...etag, ...(isRepeatable ? replayed : {}) }, ...content };
  if (route.location === undefined) return { 200: { description: doneText("x-streams" in content), ...done } };
  const location = { Location: { $ref: "#/components/headers/Location" } };
  return {
    200: { description: "A replay: an earlier call did this.", ...done },
    201: { description: "The call was done.", headers: { ...requestId, ...etag, ...location }, ...content },
  };
}

// Beside JSON it makes orval return an unread stream from functions whose callers want the JSON.
const LINES = "application/x-ndjson";

/**
 * The bodies of a success by media type. The one that generators must not see is in `x-streams`,
 * in the same form as in `content`.
 */
function contentOf(deps: OperationDependencies, routes: OperationRoutes): JsonObject {
  const call = routes.find(({ stream }) => stream === undefined);
  const stream = routes.find((route) => route.stream !== undefined);
  const content = {
    ...(call === undefined ? {} : callContent(deps, call)),
    ...(stream?.stream === undefined ? {} : streamContent(deps, stream.stream, call !== undefined)),
  };
  const { [LINES]: lines, ...others } = content;
  return { content: others, ...(lines === undefined ? {} : { "x-streams": { [LINES]: lines } }) };
}

function callContent({ schemas, problems }: OperationDependencies, { responseField, rpc }: Route): JsonObject {
  if (isHttpBody(responseField)) return { "application/json": { schema: { type: "object" } } };
  if (responseField !== undefined && responseField.fieldKind !== "message") {
    return { "application/json": { schema: schemas.responseField(responseField) } };
  }
  const desc = responseField?.message ?? rpc.output;
  const example = responseExample(desc, problems.itemExample);
  return { "application/json": { schema: schemas.response(desc), example } };
}

/** The forms of a stream, as the gateway serves them. */
function streamContent({ contract, schemas, problems }: OperationDependencies, rule: StreamRule, hasJson: boolean) {
  const item = schemas.response(rule.list.message);
  const example = responseExample(rule.list.message, problems.itemExample);
  const types = [...formsOf(rule, new MessageWriter(contract, () => ""), hasJson).keys()];
  const columns = columnsOf(rule.list.message).map(({ name }) => name);
  const forms: Readonly<Record<string, JsonObject>> = {
    "text/event-stream": {
      schema: textSchema("Server-Sent Events. The `data` of each is one item.", item),
      example: eventExample(rule, example),
    },
    "application/x-ndjson": {
      schema: textSchema("One item on each line.", item),
      example: `${JSON.stringify(example)}\n`,
    },
    "text/csv": {
      schema: { type: "string", description: `A table. Its columns: ${columns.join(", ")}.` },
      example: `${columns.join(",")}\r\n`,
    },
    "application/json": {
      schema: {
        type: "object",
        properties: { [rule.list.name]: { type: "array", items: item } },
        required: [rule.list.name],
      },
      example: { [rule.list.name]: [example] },
    },
  };
  return Object.fromEntries(types.map((type) => [type, forms[type] ?? {}])) as JsonObject;
}

/** A text whose parts have a schema. OpenAPI 3.1 has no word for it. */
function textSchema(description: string, item: JsonObject): JsonObject {
  return { type: "string", description, "x-item-schema": item };
}

function eventExample({ resumption }: StreamRule, example: JsonObject): JsonValue {
  const [id, type] = [resumption?.sequence, resumption?.type].map((field) =>
    JSON.stringify(example[field?.name ?? ""]),
  );
  return `id: ${id ?? ""}\nevent: ${(type ?? "").replaceAll('"', "")}\ndata: ${JSON.stringify(example)}\n\n`;
}
