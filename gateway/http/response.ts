import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

import helmet from "helmet";

import { type Problem, problemJson } from "../problems/problem.js";
import { exchangeOf } from "./request-context.js";

type Headers = Readonly<Record<string, string>>;

/** An answer that worked. An empty body is no body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends the answer. Does nothing when the client has gone. */
export function sendAnswer(res: ServerResponse, answer: Answer): void {
  send(res, "OK", answer, "application/json; charset=utf-8");
}

/**
 * Sends the problem as RFC 9457 says, with the request's id. Does nothing when the client has gone.
 */
export function sendProblem(res: ServerResponse, problem: Problem): void {
  const body = problemJson(problem, exchangeOf(res).requestId);
  send(res, problem.code, { status: problem.status, headers: problem.headers ?? {}, body }, "application/problem+json");
}

/** What every answer has: names and values in turn. */
const EVERY_ANSWER: readonly string[] = [...securityHeaders(), "Cache-Control", "no-store"];

/** What helmet sets on every answer. Asked once: its thirteen functions would run on each. */
function securityHeaders(): string[] {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  helmet()(answer.req, answer, () => undefined);
  return answer.getHeaderNames().flatMap((name) => [name, String(answer.getHeader(name))]);
}

function send(res: ServerResponse, code: string, { status, headers, body }: Answer, contentType: string): void {
  if (res.destroyed || res.headersSent) return;
  const exchange = exchangeOf(res);
  exchange.code = code;
  // All at once: Node keeps headers that are set one by one in a table of their own first.
  const all = [...EVERY_ANSWER, "X-Request-Id", exchange.requestId, ...Object.entries(headers).flat()];
  if (body === "") {
    res.writeHead(status, all).end();
    return;
  }
  // The length by hand, because the answer to HEAD has it too, without the body. Node leaves the
  // body out.
  all.push("Content-Type", contentType, "Content-Length", String(Buffer.byteLength(body)));
  res.writeHead(status, all).end(body);
}
