import { randomUUID } from "node:crypto";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import type { Logger } from "pino";

import { type Problem, problemJson } from "../problems/problem.js";

const MALFORMED: Problem = { status: 400, code: "MALFORMED_REQUEST", detail: "This is not an HTTP/1.1 request." };
const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: "HEADERS_TOO_LARGE", detail: "The headers are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: "REQUEST_TIMEOUT", detail: "The request did not arrive in time." },
};

/**
 * Answers what Node's HTTP parser does not take, and closes the connection: where such a request
 * ends, and what of the rest is another one, is anybody's guess.
 */
export function answerMalformedRequests(
  server: Server,
  openAnswersOn: (socket: Duplex) => readonly ServerResponse[],
  log: Logger,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const begun = openAnswersOn(socket).some((res) => res.headersSent);
    if (error.code === "ECONNRESET" || !socket.writable || begun) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const problem = PROBLEMS[error.code ?? ""] ?? MALFORMED;
    log.info({ request_id: requestId, status: problem.status, code: problem.code }, "request");
    // Without waiting for the client to close its side.
    socket.end(responseOf(problem, requestId), () => socket.destroy());
  });
}

function responseOf(problem: Problem, requestId: string): string {
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
