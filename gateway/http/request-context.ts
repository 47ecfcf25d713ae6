import type { IncomingMessage, ServerResponse } from "node:http";

import { requestIdOf } from "../../runtime/request-id.js";

/**
 * What is known of one request while it is answered: what every answer repeats and the log line
 * says.
 */
export interface Exchange {
  readonly requestId: string;
  readonly startedAt: number;
  /** The path with field names for values; undefined until a route was found. */
  route: string | undefined;
  /** How it ended: "OK" or the code of the problem. */
  code: string | undefined;
  /** The request id in the server's log, of a call that was sent with others. */
  batchId: string | undefined;
  /**
   * What to do when it is over, answered or not. One listener of the response for all of them costs
   * less than one each.
   */
  readonly whenOver: (() => void)[];
}

// On the response itself: what a WeakMap holds outlives every small garbage collection, and all
// that it refers to with it.
const EXCHANGE = Symbol("exchange");
type WithExchange = ServerResponse & { [EXCHANGE]?: Exchange };

/**
 * Begins the exchange. The caller's X-Request-Id is kept when it is sane; otherwise there is a new
 * one.
 */
export function beginExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  const exchange: Exchange = {
    // Node joins repeated headers with a comma, so that they are not a valid id.
    requestId: requestIdOf(req.headers["x-request-id"]),
    startedAt: performance.now(),
    route: undefined,
    code: undefined,
    batchId: undefined,
    whenOver: [],
  };
  (res as WithExchange)[EXCHANGE] = exchange;
  res.once("close", () => {
    for (const listener of exchange.whenOver) listener();
  });
  return exchange;
}

/** The exchange that the response belongs to. Throws when it never began: a bug. */
export function exchangeOf(res: ServerResponse): Exchange {
  const exchange = (res as WithExchange)[EXCHANGE];
  if (exchange === undefined) throw new Error("the exchange has not begun");
  return exchange;
}
