import type { IncomingMessage, ServerResponse } from "node:http";

import type { Logger } from "pino";

import type { RequestContext } from "./request-context.js";

// Logged in place of the status when the client disconnects first, as nginx does.
const CLIENT_GONE = { status: 499, code: "CLIENT_GONE" };

/**
 * Logs one line when the request ends. The line has the route's template in place of the URL: ids,
 * phone numbers and e-mail addresses in paths and queries stay out of the log. So do bodies and
 * keys.
 */
export function logRequest(log: Logger, context: RequestContext, req: IncomingMessage, res: ServerResponse): void {
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
    if (line.status >= 500) log.warn(line, "request");
    else log.info(line, "request");
  });
}
