import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";

import { refuseMalformed } from "../transport/closing.js";
import { addressOf, createHttpServer } from "../transport/http-server.js";
import type { HostAndPort } from "../variables/forms.js";
import { BoundedReading } from "./bounded-reading.js";
import { CONTENT_TYPE } from "./metrics.js";

export interface AdminOptions {
  readonly listen: HostAndPort;
  /** The text of a scrape. */
  readonly metrics: () => Promise<string>;
  /** Whether the program takes calls. Undefined: the program has no such page here. */
  readonly isServing?: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** The HTTP server for monitoring. It has no keys, no writes, and nothing of a single customer. */
export interface AdminServer {
  /** "host:port". */
  readonly address: string;
  close(): Promise<void>;
}

// Prometheus, a second one, and a person who looks.
const CONNECTIONS_MAX = 32;
const REQUEST_MILLIS_MAX = 5_000;
/** Scrapes within this time get the same text, so scrapes without end cost one text a second. */
const TEXT_MILLIS = 1_000;
const TEXT_WAIT_MILLIS = 8_000;

/**
 * Serves GET /metrics, and /livez and /readyz as the gateway does. Rejects if the address cannot be
 * bound.
 */
export async function startAdminServer(options: AdminOptions): Promise<AdminServer> {
  const server = createHttpServer(
    { headersTimeout: REQUEST_MILLIS_MAX, requestTimeout: REQUEST_MILLIS_MAX, maxHeaderSize: 8_192 },
    undefined,
    listenerOf(options),
  );
  refuseMalformed(server);
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(options.listen);
  await once(server, "listening");
  // A scrape must not keep a process alive that has nothing else to do.
  server.unref();
  return {
    address: addressOf(server),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function listenerOf({ metrics, isServing, onError }: AdminOptions): RequestListener {
  const text = new BoundedReading({
    read: metrics,
    everyMillis: TEXT_MILLIS,
    waitMillis: TEXT_WAIT_MILLIS,
    keepMillis: TEXT_MILLIS + TEXT_WAIT_MILLIS,
    monotonicMillis: () => performance.now(),
    onError,
  });
  const sendMetrics = async (res: ServerResponse): Promise<void> => {
    const found = await text.value();
    if (found === undefined) send(res, 503, "the metrics could not be read\n");
    else send(res, 200, found, CONTENT_TYPE);
  };
  return (req, res) => {
    const path = (req.url ?? "").replace(/\?.*$/, "");
    if (req.method !== "GET" && req.method !== "HEAD") send(res, 405, "only GET\n");
    else if (path === "/metrics") void sendMetrics(res);
    else if (path === "/livez") send(res, 200, "ok\n");
    else if (path === "/readyz" && isServing !== undefined)
      send(res, isServing() ? 200 : 503, isServing() ? "ok\n" : "not serving\n");
    else send(res, 404, "see /metrics\n");
  };
}

function send(res: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  res.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(status === 405 ? { Allow: "GET, HEAD" } : {}),
  });
  res.end(body);
}
