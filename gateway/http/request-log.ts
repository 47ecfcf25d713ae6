import type { IncomingMessage, ServerResponse } from "node:http";

import type { Logger } from "pino";

import type { Exchange } from "./request-context.js";

// The status that nobody receives, because the client has gone (as nginx counts it).
const CLIENT_GONE_STATUS = 499;

/**
 * Writes one line when the request is over. The path with its field names stands for the URL: ids,
 * and filters with phone numbers and e-mail addresses, never get into the log, and neither do
 * bodies and keys.
 */
export function logRequest(log: Logger, exchange: Exchange, req: IncomingMessage, res: ServerResponse): void {
  exchange.whenOver.push(() => {
    const isGone = !res.writableFinished;
    const line = {
      request_id: exchange.requestId,
      method: req.method,
      route: exchange.route ?? null,
      status: isGone ? CLIENT_GONE_STATUS : res.statusCode,
      code: isGone ? "CLIENT_GONE" : exchange.code,
      batch_id: exchange.batchId,
      ms: Math.round((performance.now() - exchange.startedAt) * 100) / 100,
    };
    if (line.status >= 500) log.warn(line, "request");
    else log.info(line, "request");
  });
}
