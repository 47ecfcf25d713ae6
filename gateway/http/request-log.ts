import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

import type { Logger } from "pino";

import type { RequestContext } from "./request-context.js";

/** What the log line of a request says that is counted. */
export interface EndOfRequest {
  readonly method: string | undefined;
  readonly route: string | null;
  readonly status: number;
  readonly code: string | undefined;
  readonly ms: number;
}

/** Counts requests. The gateway has none when its metrics are off. */
export interface RequestMeter {
  began(): void;
  ended(end: EndOfRequest): void;
}

/** Where the end of a request is noted: the log, and the metrics if they are on. */
export interface RequestNotes {
  readonly log: Logger;
  readonly meter?: RequestMeter | undefined;
}

// Logged in place of the status when the client disconnects first, as nginx does.
const CLIENT_GONE = { status: 499, code: "CLIENT_GONE" };

/**
 * Counts the request. When it ends, logs one line and ends its span. Both have the route's template
 * in place of the URL: ids, phone numbers and e-mail addresses in paths and queries stay out. So do
 * bodies and keys.
 */
export function logRequest(
  { log, meter }: RequestNotes,
  context: RequestContext,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  meter?.began();
  context.onClosed.push(() => {
    const isGone = !res.writableFinished;
    const line = {
      request_id: context.requestId,
      trace_id: context.traceId,
      method: req.method,
      route: context.route ?? null,
      ...(context.cutOff ?? (isGone ? CLIENT_GONE : { status: res.statusCode, code: context.code })),
      items: context.items,
      batch_id: context.batchId,
      ms: Math.round((performance.now() - context.startedAt) * 100) / 100,
    };
    meter?.ended(line);
    context.span?.end(`${req.method ?? ""} ${context.route ?? ""}`.trim(), spanFactsOf(req, line), line.status >= 500);
    if (line.status >= 500) log.warn(line, "request");
    else log.info(line, "request");
  });
}

interface LoggedRequest {
  readonly request_id: string;
  readonly method: string | undefined;
  readonly route: string | null;
  readonly status: number;
  readonly code: string | undefined;
}

function spanFactsOf({ socket }: IncomingMessage, line: LoggedRequest): Readonly<Record<string, string | number>> {
  return {
    "http.request.method": line.method ?? "",
    "http.route": line.route ?? "",
    "url.scheme": socket instanceof TLSSocket ? "https" : "http",
    // The path itself holds ids, and the secret of a callback.
    "url.path": line.route ?? "",
    "http.response.status_code": line.status,
    "kesc.code": line.code ?? "",
    "kesc.request_id": line.request_id,
  };
}
