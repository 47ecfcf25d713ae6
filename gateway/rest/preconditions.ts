import type { Message } from "@bufbuild/protobuf";

import type { Route } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import { valueOf } from "../../contract/json-support.js";
import type { Preconditions } from "../http/headers.js";

type EtagRoute = Pick<Route, "etag" | "method">;

// An entity tag of RFC 9110, not weak and not empty.
const ETAG = /^"([\x21\x23-\x7e]+)"$/;
const NOT_ONE_ETAG = 'must be one strong entity tag in double quotes, such as "42", or *';

/**
 * Puts the entity tag of If-Match into the request, so that the server compares it with the
 * resource's. Refuses a precondition that the route cannot check: RFC 9110 forbids to perform a
 * request as if it had none. `*` asks only that the resource exists, which each call asks. A read
 * may ignore If-None-Match, and does: a webhook endpoint's tag covers only what callers change.
 */
export function readPreconditions(
  { etag, method }: EtagRoute,
  message: Message,
  { ifMatch, ifNoneMatch }: Preconditions,
): readonly RequestProblem[] {
  const problems: RequestProblem[] = [];
  if (ifNoneMatch !== undefined && method !== "GET") problems.push(unsupported("if-none-match"));
  if (ifMatch === undefined) return problems;
  const [, tag] = ETAG.exec(ifMatch) ?? [];
  if (etag.request === undefined) problems.push(unsupported("if-match"));
  else if (tag !== undefined) Object.assign(message, { [etag.request.localName]: tag });
  else if (ifMatch !== "*") problems.push({ field: "if-match", code: "FORMAT", message: NOT_ONE_ETAG });
  return problems;
}

function unsupported(field: string): RequestProblem {
  return { field, code: "CONFLICT", message: "must not be sent: this call has no version to compare it with" };
}

/** Returns the resource's version as an entity tag; undefined: it has none. */
export function etagIn({ etag }: EtagRoute, resource: Message): string | undefined {
  const version = etag.response === undefined ? undefined : valueOf(resource, etag.response);
  return typeof version === "string" && version !== "" ? `"${version}"` : undefined;
}
