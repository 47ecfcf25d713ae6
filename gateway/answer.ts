import type { ServerResponse } from "node:http";
import { exchangeOf } from "./exchange.js";
import { problemJson, type Problem } from "./problem.js";

type Headers = Readonly<Record<string, string>>;

/** An answer that worked. An empty body is no body. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

/** Sends the answer. Does nothing when the client has gone. */
export function sendAnswer(res: ServerResponse, answer: Answer): void {
  send(res, "OK", answer, "application/json; charset=utf-8");
}

/** Sends the problem as RFC 9457 says, with the request's id. Does nothing when the client has gone. */
export function sendProblem(res: ServerResponse, problem: Problem): void {
  const body = problemJson(problem, exchangeOf(res).requestId);
  send(res, problem.code, { status: problem.status, headers: problem.headers ?? {}, body }, "application/problem+json");
}

function send(res: ServerResponse, code: string, answer: Answer, contentType: string): void {
  if (res.destroyed || res.headersSent) return;
  exchangeOf(res).code = code;
  res.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
  if (answer.body === "") {
    res.end();
    return;
  }
  res.setHeader("Content-Type", contentType);
  // By hand, because the answer to HEAD has it too, without the body. Node leaves the body out.
  res.setHeader("Content-Length", Buffer.byteLength(answer.body));
  res.end(answer.body);
}
