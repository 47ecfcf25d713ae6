import { create, type DescField, type Message } from "@bufbuild/protobuf";

import type { Route } from "../../contract/contract.js";
import { type RequestProblem, unparsed } from "../../contract/field-problem.js";
import type { Json } from "../../contract/json/parse-json.js";
import { MessageReader } from "../../contract/json/read-message.js";
import { ParameterReader } from "../../contract/json/read-parameters.js";
import type { NumberFields } from "../../contract/json-support.js";

export interface RequestParts {
  /** The values of the path's fields, decoded, in the order of the path. */
  readonly pathValues: readonly string[];
  /** The text after the question mark, not decoded. */
  readonly query: string;
  /** Undefined for a route that takes no body. */
  readonly body: RequestBody | undefined;
}

/** A body as JSON, or as it came. */
export type RequestBody =
  | { readonly kind: "json"; readonly json: Json }
  | { readonly kind: "raw"; readonly bytes: Uint8Array; readonly contentType: string };

/** A value with a problem is missing in the message. */
export interface DecodedRequest {
  readonly message: Message;
  readonly problems: readonly RequestProblem[];
}

/** Makes the message that the route's rpc takes, from path, query and body. */
export function decodeRequest(route: Route, numbers: NumberFields, parts: RequestParts): DecodedRequest {
  const reader = new MessageReader(route.rpc.input, numbers);
  for (const [index, field] of route.pathFields.entries()) reader.readText(field, parts.pathValues[index] ?? "");
  readQuery(reader, route, parts.query);
  if (parts.body !== undefined) readBodyInto(reader, route, parts.body);
  return { message: reader.message, problems: reader.problems };
}

function readBodyInto(reader: MessageReader, route: Route, body: RequestBody): void {
  const { body: rule, elsewhere, method } = route;
  const rules = { elsewhere, nullRemoves: method === "PATCH" };
  if (body.kind === "json" && rule.kind === "all") reader.readObject(body.json, rules);
  if (body.kind === "json" && rule.kind === "field") reader.readField(rule.field, body.json);
  if (body.kind === "raw" && rule.kind === "raw") setHttpBody(reader.message, rule.field, body);
}

/** Sets a field of the type google.api.HttpBody. */
function setHttpBody(
  message: Message,
  field: DescField,
  { bytes: data, contentType }: RequestBody & { kind: "raw" },
): void {
  if (field.message === undefined) throw new Error(`${field.name} is not a message`);
  Object.assign(message, { [field.localName]: Object.assign(create(field.message), { data, contentType }) });
}

/** Makes the message for a request whose body is not JSON. */
export function emptyRequest(route: Route): Message {
  return create(route.rpc.input);
}

/** Reads the fields that neither the path nor the body holds. */
function readQuery(reader: MessageReader, route: Route, query: string): void {
  const parameters = new ParameterReader(reader, route.rpc.input, (field) => isInQuery(route, field));
  for (const pair of query.split("&").filter((text) => text !== "")) {
    const [name, text] = splitPair(pair);
    if (name === undefined) reader.refuse("query", unparsed("has a name that is not percent-encoded UTF-8"));
    else if (!parameters.read(name, text))
      reader.refuseName(name, "is not a query parameter of this path", { known: parameters.fields });
  }
}

function isInQuery(route: Route, field: DescField): boolean {
  if (route.body.kind === "all" || route.elsewhere.has(field)) return false;
  return route.body.kind === "none" || route.body.field !== field;
}

function splitPair(pair: string): [string | undefined, string | undefined] {
  const equals = pair.indexOf("=");
  return equals === -1 ? [decode(pair), ""] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
}

/** Decodes as HTML forms are encoded: a plus is a space. Returns undefined when it is not UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
