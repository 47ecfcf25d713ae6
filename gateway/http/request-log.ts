import type { IncomingMessage, ServerResponse } from "node:http";

import type { Logger } from "pino";

import type { RequestContext } from "./request-context.js";

// Logged in place of the status when the client disconnects first, as nginx does.
const CLIENT_GONE_STATUS = 499;

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
      status: isGone ? CLIENT_GONE_STATUS : res.statusCode,
      code: isGone ? "CLIENT_GONE" : context.code,
      batch_id: context.batchId,
      ms: Math.round((performance.now() - context.startedAt) * 100) / 100,
    };
    if (line.status >= 500) log.warn(line, "request");
    else log.info(line, "request");
  });
}
