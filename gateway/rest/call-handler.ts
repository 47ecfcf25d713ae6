import { setTimeout as sleep } from "node:timers/promises";

import type { DescField, Message } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import type { Request, Response } from "express";

import type { Location, Route } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import { isJsonObject } from "../../contract/json/parse-json.js";
import type { MessageWriter } from "../../contract/json/write-message.js";
import { isHttpBody, type NumberFields, valueOf } from "../../contract/json-support.js";
import { fillPath, prefixOf } from "../../contract/path-template.js";
import type {
  RateLimit,
  RpcCallOptions,
  UpstreamFailure,
  UpstreamResult,
  UpstreamSuccess,
} from "../../contract/rpc.js";
import { endOfTurn } from "../../runtime/micro-batch.js";
import { type CallHeaders, readHeaders, validateOnly } from "../http/headers.js";
import { type BodyResult, readBody, readRawBody } from "../http/request-body.js";
import { contextOf, type RequestContext } from "../http/request-context.js";
import { type HttpResponse, sendProblem, sendResponse } from "../http/response.js";
import { invalidFields, malformedBody, type Problem } from "../problems/problem.js";
import { problemOf, type ReadRefusal } from "../problems/upstream-refusal.js";
import type { Upstream } from "../upstream/upstream.js";
import { etagIn, readPreconditions } from "./preconditions.js";
import { decodeRequest, emptyRequest, type RequestBody } from "./request-message.js";

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly messageWriter: MessageWriter;
  readonly numbers: NumberFields;
  readonly readRefusal: ReadRefusal;
  readonly bodyBytesMax: number;
  /** The limit for routes of the contract that are `bulk`. */
  readonly bulkBytesMax: number;
  readonly callMillisMax: number;
  readonly isStopping: () => boolean;
}

interface Call {
  readonly message: Message;
  readonly headers: CallHeaders;
  readonly onCancel: RpcCallOptions["onCancel"];
  readonly context: RequestContext;
}

// A server that restarts is back in this time. A rail that gets 503 may not send its message again.
const HELD_MILLIS_MAX = 10_000;
const HELD_PAUSE_MILLIS = 250;

/** The gateway's own finding: problems of single fields, or one of the whole request. */
type Fault = { readonly fields: readonly RequestProblem[] } | { readonly whole: Problem };

/** Decodes one request of the route, calls the rpc, and sends the response. */
export async function handleCall(deps: CallDependencies, route: Route, req: Request, res: Response): Promise<void> {
  const context = contextOf(res);
  const headers = readHeaders(
    req.rawHeaders,
    { requestId: context.requestId, trace: context.trace },
    deps.callMillisMax,
  );
  if (headers.isKeyUnreadable) {
    sendProblem(res, invalidFields(headers.problems));
    return;
  }
  const onCancel = onDisconnect(res);
  const body = await bodyOf(deps, route, req, context);
  await endOfTurn();
  // The client has disconnected, or a stopping gateway has refused the request, before its end.
  if (res.destroyed || res.headersSent) return;
  if (body?.ok === false) {
    const call = { message: emptyRequest(route), headers, onCancel, context };
    sendProblem(res, await problemAfterKeyCheck(deps, route, call, { whole: body.problem }));
    return;
  }
  const { message, problems } = decodeRequest(route, deps.numbers, {
    pathValues: route.pathFields.map((_, index) => String(req.params[`p${String(index)}`])),
    query: queryOf(req.url),
    body: body?.content,
  });
  const call = { message, headers, onCancel, context };
  const fields = [...headers.problems, ...problems, ...readPreconditions(route, message, headers)];
  if (fields.length > 0) {
    sendProblem(res, await problemAfterKeyCheck(deps, route, call, { fields }));
    return;
  }
  const result = route.isPublic
    ? await callWhenServed(deps, route, call, res)
    : await makeCall(deps, route, call, headers);
  if (result.ok) sendResponse(res, responseOf(deps, route, result, context.publicUrl + prefixOf(req.path)));
  else sendProblem(res, problemOf(deps.readRefusal(result), route.method !== "GET"));
}

type Body = { readonly ok: true; readonly content: RequestBody } | { readonly ok: false; readonly problem: Problem };

/** Reads the body as the route takes it. Undefined if it takes none. */
async function bodyOf(
  deps: CallDependencies,
  route: Route,
  req: Request,
  { turnFor, rawBody }: RequestContext,
): Promise<Body | undefined> {
  if (route.body.kind === "none") return undefined;
  const bytesMax = route.bulk ? deps.bulkBytesMax : deps.bodyBytesMax;
  if (route.body.kind === "raw") {
    const raw = rawBody ?? (await readRawBody(req, bytesMax));
    return raw.ok ? { ok: true, content: { kind: "raw", ...raw } } : raw;
  }
  const body = checkShape(route, await readBody(req, { bytesMax, turnFor }));
  return body.ok ? { ok: true, content: { kind: "json", json: body.json } } : body;
}

/**
 * Returns the problem for a request in which the gateway found a fault. Key and scope come first in
 * the order of checks, and only the server can check them: the gateway makes a call that validates
 * only (docs/architecture.md). The problems that the server finds in other fields are added.
 */
async function problemAfterKeyCheck(deps: CallDependencies, route: Route, call: Call, fault: Fault): Promise<Problem> {
  const result = await makeCall(deps, route, call, { metadata: validateOnly(call.headers.metadata) });
  return problemAfterCheck(deps.readRefusal, result.ok ? undefined : result, fault);
}

/** Returns names and values in turn, and none if the server has not counted the call. */
export function rateLimitHeaders(rateLimit: RateLimit | undefined): readonly string[] {
  return rateLimit === undefined ? [] : ["RateLimit-Policy", rateLimit.policy, "RateLimit", rateLimit.limit];
}

/** Returns the problem for a fault, after the server has refused or accepted the key. */
export function problemAfterCheck(
  readRefusal: ReadRefusal,
  failure: UpstreamFailure | undefined,
  fault: Fault,
): Problem {
  const refusal = failure === undefined ? undefined : readRefusal(failure);
  if (refusal !== undefined && refusal.grpcCode !== status.INVALID_ARGUMENT) return problemOf(refusal, false);
  if ("whole" in fault) return fault.whole;
  // "is required if status is absent": the server got no status, because the gateway refused it.
  const refused = new Set(fault.fields.map(({ field }) => field));
  const errors = (refusal?.errors ?? []).filter(
    ({ code, message }) => code !== "REQUIRED" || message.split(/[^a-z_]+/).every((word) => !refused.has(word)),
  );
  return invalidFields([...fault.fields, ...errors]);
}

async function makeCall(
  deps: CallDependencies,
  route: Route,
  call: Call,
  options: Pick<RpcCallOptions, "metadata" | "batchKey">,
): Promise<UpstreamResult> {
  const deadline = Date.now() + call.headers.timeoutMillis;
  const { context } = call;
  const result = await deps.upstream.call(route.rpc, call.message, {
    ...options,
    deadline,
    onCancel: call.onCancel,
    isTraced: context.span !== undefined,
  });
  context.batchId = result.batchId;
  context.rateLimitHeaders = rateLimitHeaders(result.rateLimit);
  await endOfTurn();
  return result;
}

/**
 * Makes the call of a rail, again and again while no server can take it. A repeat is safe: the
 * server stores the same message once. Ends when the gateway stops, and when the client goes.
 */
async function callWhenServed(
  deps: CallDependencies,
  route: Route,
  call: Call,
  res: Response,
): Promise<UpstreamResult> {
  const { context, headers } = call;
  const endsAt = context.startedAt + Math.min(HELD_MILLIS_MAX, headers.timeoutMillis);
  for (;;) {
    const result = await makeCall(deps, route, call, headers);
    if (result.ok || result.status.code !== status.UNAVAILABLE) return result;
    if (performance.now() + HELD_PAUSE_MILLIS > endsAt || deps.isStopping() || res.destroyed) return result;
    await sleep(HELD_PAUSE_MILLIS);
  }
}

/**
 * Calls the listener when the client disconnects before it has the response. An AbortSignal in its
 * place was one of three costs whose removal made a request 10 % cheaper (docs/performance.md).
 */
function onDisconnect(res: Response): RpcCallOptions["onCancel"] {
  return (listener) => {
    const callIfUnfinished = (): void => {
      if (!res.writableFinished) listener();
    };
    if (res.destroyed) callIfUnfinished();
    else contextOf(res).onClosed.push(callIfUnfinished);
  };
}

/** Refuses a body that must be the whole message and is not an object. */
function checkShape(route: Route, body: BodyResult): BodyResult {
  if (!body.ok || route.body.kind !== "all" || isJsonObject(body.json)) return body;
  return { ok: false, problem: malformedBody("The body must be a JSON object.") };
}

/** Returns 201 with a Location when the call created a resource, otherwise 200. */
function responseOf(deps: CallDependencies, route: Route, result: UpstreamSuccess, prefix: string): HttpResponse {
  const { responseField, location, rpc } = route;
  if (isHttpBody(responseField) && responseField !== undefined) return rawResponseOf(responseField, result.message);
  const resource = responseField === undefined ? result.message : (valueOf(result.message, responseField) as Message);
  const etag = etagIn(route, resource);
  const headers: Record<string, string> = etag === undefined ? {} : { ETag: etag };
  const body = responseField
    ? deps.messageWriter.writeField(responseField, result.message)
    : deps.messageWriter.write(rpc.output, result.message);
  if (result.replayed) return { status: 200, headers: { ...headers, "Idempotent-Replayed": "true" }, body };
  if (location === undefined) return { status: 200, headers, body };
  return { status: 201, headers: { ...headers, Location: prefix + fillLocation(location, resource) }, body };
}

/** Returns a google.api.HttpBody as the HTTP body. */
function rawResponseOf(field: DescField, message: Message): HttpResponse {
  const body = valueOf(message, field) as { readonly contentType: string; readonly data: Uint8Array } | undefined;
  return { status: 200, headers: {}, body: body?.data ?? "", contentType: body?.contentType };
}

/** Throws when the response lacks the resource that the call created: a bug of the server. */
function fillLocation({ path, fields }: Location, resource: Message): string {
  return fillPath(
    path,
    fields.map((field) => String(valueOf(resource, field))),
  );
}

/** Returns the text after the question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}
