import { create, type DescField, type Message } from "@bufbuild/protobuf";

import type { Route } from "../contract/contract.js";
import type { Json } from "../json/parse-json.js";
import { fieldsByName, isTextual, MessageReader, takesEmptyText } from "../json/read-message.js";
import type { FieldProblem } from "../problems/field-problem.js";

export interface RequestParts {
  /** The values of the path's fields, decoded, in the order of the path. */
  readonly pathValues: readonly string[];
  /** What stands behind the question mark, as it came. */
  readonly query: string;
  /** Undefined for a route that takes no body. */
  readonly body: Json | undefined;
}

/**
 * The message as far as it could be read, and everything that is wrong with the request: path,
 * query, body.
 */
export interface RequestResult {
  readonly message: Message;
  readonly problems: readonly FieldProblem[];
}

/** Reads a request into the message that its route's rpc takes. */
export function readRequest(
  route: Route,
  isDecimal: (field: DescField) => boolean,
  parts: RequestParts,
): RequestResult {
  const reader = new MessageReader(route.rpc.input, isDecimal);
  for (const [index, field] of route.pathFields.entries()) reader.readText(field, parts.pathValues[index] ?? "");
  readQuery(reader, route, parts.query);
  if (parts.body !== undefined && route.body.kind === "all") reader.readObject(parts.body, new Set(route.pathFields));
  if (parts.body !== undefined && route.body.kind === "field") reader.readField(route.body.field, parts.body);
  return { message: reader.message, problems: reader.problems };
}

/** The message of a request that could not be read at all. */
export function emptyRequest(route: Route): Message {
  return create(route.rpc.input);
}

/** The query gives the fields that neither the path nor the body holds, by name. */
function readQuery(reader: MessageReader, route: Route, query: string): void {
  const fields = fieldsByName(route.rpc.input);
  const seen = new Set<string>();
  for (const pair of query.split("&").filter((text) => text !== "")) {
    const [name, value] = splitPair(pair);
    const field = fields.get(name ?? "");
    if (name === undefined) reader.refuse("query", "holds a name that is not percent-encoded UTF-8");
    else if (field === undefined || !isInQuery(route, field))
      reader.refuse(name, "is not a query parameter of this path");
    else if (value === undefined) reader.refuse(name, "must be percent-encoded UTF-8");
    else if (seen.has(name) && field.fieldKind !== "list") reader.refuse(name, "must be given once");
    else if (value !== "" || takesEmptyText(field)) reader.readText(field, value);
    if (name !== undefined) seen.add(name);
  }
}

function isInQuery(route: Route, field: DescField): boolean {
  if (route.body.kind === "all" || route.pathFields.includes(field) || !isTextual(field)) return false;
  return route.body.kind === "none" || route.body.field !== field;
}

function splitPair(pair: string): [string | undefined, string | undefined] {
  const equals = pair.indexOf("=");
  return equals === -1 ? [decode(pair), ""] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
}

/**
 * Decodes as HTML forms and URLSearchParams encode: a plus is a space. Undefined for what is not
 * UTF-8.
 */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
