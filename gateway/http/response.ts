import type { ServerResponse } from "node:http";

import { isArriving } from "../../runtime/transport/http-server.js";
import { type Problem, problemJson } from "../problems/problem.js";
import { contextOf } from "./request-context.js";

/** A successful response. An empty body is no body. JSON unless `contentType` says otherwise. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly contentType?: string | undefined;
}

/**
 * The headers of every response, names and values in turn: no cache, and the headers that helmet
 * sets. A test compares them with helmet's. A constant is one of three changes that made a request
 * 10 % cheaper (docs/performance.md): helmet runs thirteen functions on each response.
 */
const OWN_OF_STATIC_FILES = [
  ["Cache-Control", "no-store"],
  [
    "Content-Security-Policy",
    "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';" +
      "img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';" +
      "style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests",
  ],
];
const OF_ALL_RESPONSES = [
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Origin-Agent-Cluster", "?1"],
  ["Referrer-Policy", "no-referrer"],
  ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"],
  ["X-Content-Type-Options", "nosniff"],
  ["X-DNS-Prefetch-Control", "off"],
  ["X-Download-Options", "noopen"],
  ["X-Frame-Options", "SAMEORIGIN"],
  ["X-Permitted-Cross-Domain-Policies", "none"],
  ["X-XSS-Protection", "0"],
];
const COMMON_HEADERS: readonly string[] = [...OWN_OF_STATIC_FILES, ...OF_ALL_RESPONSES].flat();
const STATIC_HEADERS: readonly string[] = OF_ALL_RESPONSES.flat();

/** Does nothing when the client has disconnected. */
export function sendResponse(res: ServerResponse, response: HttpResponse): void {
  send(res, "OK", response, response.contentType ?? "application/json; charset=utf-8");
}

/**
 * Sends the head of a response whose body follows in parts. A proxy that collects a response passes
 * each part on at once.
 */
export function beginBody(res: ServerResponse, contentType: string, headers: Readonly<Record<string, string>>): void {
  const context = contextOf(res);
  context.code = "OK";
  const own = { "X-Request-Id": context.requestId, "Content-Type": contentType, "X-Accel-Buffering": "no", ...headers };
  const list = [...COMMON_HEADERS, ...context.rateLimitHeaders, ...Object.entries(own).flat()];
  if (isArriving(res.req)) list.push("Connection", "close");
  res.writeHead(200, list).flushHeaders();
}

/**
 * Sends a file that is the same for everybody. Its headers say how long a client may keep it, and
 * what a browser may do with it. Does nothing when the client has disconnected.
 */
export function sendStatic(res: ServerResponse, response: HttpResponse): void {
  send(res, "OK", response, response.contentType ?? "", STATIC_HEADERS);
}

/** Sends the problem as RFC 9457 says. Does nothing when the client has disconnected. */
export function sendProblem(res: ServerResponse, problem: Problem): void {
  const { requestId, publicUrl } = contextOf(res);
  const body = problemJson(problem, requestId, publicUrl);
  send(res, problem.code, { status: problem.status, headers: problem.headers ?? {}, body }, "application/problem+json");
}

function send(
  res: ServerResponse,
  code: string,
  response: HttpResponse,
  contentType: string,
  common = COMMON_HEADERS,
): void {
  if (res.destroyed || res.headersSent) return;
  const context = contextOf(res);
  context.code = code;
  const { status, headers, body } = response;
  // A flat list for writeHead: Node would first store headers that are set one by one. One of four
  // changes that cut a request's processor time by 10 % (docs/performance.md).
  const own = ["X-Request-Id", context.requestId, ...context.rateLimitHeaders];
  const list = [...common, ...own, ...Object.entries(headers).flat()];
  if (isArriving(res.req)) list.push("Connection", "close");
  if (body.length === 0) {
    res.writeHead(status, list).end();
    return;
  }
  // Content-Length is set here because Node omits it from the response to HEAD, with the body.
  list.push("Content-Type", contentType, "Content-Length", String(Buffer.byteLength(body)));
  res.writeHead(status, list).end(body);
}
