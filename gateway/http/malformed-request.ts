import { randomUUID } from "node:crypto";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import type { Logger } from "pino";

import { ownReason, type Problem, problemJson } from "../problems/problem.js";

const MALFORMED: Problem = {
  ...ownReason("MALFORMED_REQUEST"),
  detail: "The request is not a valid HTTP/1.1 request. The connection is closed.",
};
const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    ...ownReason("HEADERS_TOO_LARGE"),
    detail: "The headers are too large. Send less than 16 KiB.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    ...ownReason("REQUEST_TIMEOUT"),
    detail: "The request did not arrive in time. Send the headers within 10 seconds, and all within 30.",
  },
};

/**
 * Sends a problem for a request that Node's HTTP parser rejects, and closes the connection. Where
 * the next request begins is unknown then, so the connection cannot be used further.
 */
export function rejectMalformedRequests(
  server: Server,
  openResponsesOn: (socket: Duplex) => readonly ServerResponse[],
  log: Logger,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // The problem would become a part of the response that has begun.
    const hasBegun = openResponsesOn(socket).some((res) => res.headersSent);
    const isHandshake = /^ERR_(SSL|TLS)_/.test(error.code ?? "");
    if (error.code === "ECONNRESET" || isHandshake || !socket.writable || hasBegun) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const problem = PROBLEMS[error.code ?? ""] ?? MALFORMED;
    log.info({ request_id: requestId, status: problem.status, code: problem.code }, "request");
    // Destroyed once it is sent: the client might never close its side.
    socket.end(serializedResponse(problem, requestId), () => socket.destroy());
  });
}

function serializedResponse(problem: Problem, requestId: string): string {
  const body = problemJson(problem, requestId);
  return [
    `HTTP/1.1 ${String(problem.status)} ${STATUS_CODES[problem.status] ?? ""}`,
    "Connection: close",
    "Cache-Control: no-store",
    "Content-Type: application/problem+json",
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    `X-Request-Id: ${requestId}`,
    "",
    body,
  ].join("\r\n");
}
