import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { Logger } from "pino";

import { canRespond } from "../../runtime/transport/closing.js";
import type { HttpServer } from "../../runtime/transport/http-server.js";
import { malformedRequest, methodNotAllowed, ownReason, type Problem, problemJson } from "../problems/problem.js";
import type { Connections } from "./connections.js";

const MALFORMED = malformedRequest("The request is not a valid HTTP/1.1 request. The connection is closed.");
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
 * Sends a problem for a request that Node's HTTP parser rejects, and for CONNECT. Then it closes
 * the connection: where the next request begins is unknown. The requests before it get their
 * responses first.
 */
export function rejectMalformedRequests(
  server: HttpServer,
  connections: Connections,
  { log, publicUrl }: { readonly log: Logger; readonly publicUrl: string },
): void {
  const reject = (socket: Socket, problem: Problem): void => {
    connections.afterResponses(socket, () => {
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      const requestId = randomUUID();
      log.info({ request_id: requestId, status: problem.status, code: problem.code }, "request");
      socket.write(serializedResponse(problem, requestId, publicUrl));
      socket.destroySoon();
    });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // The problem would become a part of the response that has begun.
    if (!canRespond(error, socket) || connections.hasBegunResponse(socket)) socket.destroy();
    else reject(socket, PROBLEMS[error.code ?? ""] ?? MALFORMED);
  });
  // Without a listener, Node closes the connection.
  server.on("connect", (_req, socket: Socket) => {
    reject(socket, methodNotAllowed(""));
  });
}

function serializedResponse(problem: Problem, requestId: string, publicUrl: string): string {
  const body = problemJson(problem, requestId, publicUrl);
  return [
    `HTTP/1.1 ${String(problem.status)} ${STATUS_CODES[problem.status] ?? ""}`,
    "Connection: close",
    "Cache-Control: no-store",
    "Content-Type: application/problem+json",
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(problem.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
  ].join("\r\n");
}
