import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { MessagePort } from "node:worker_threads";

import type { Logger } from "pino";

import { CONTRACT_URL, readContract } from "../contract/contract.js";
import type { Tracing } from "../runtime/tracing/tracing.js";
import { addressOf, closeHttpServer, createHttpServer } from "../runtime/transport/http-server.js";
import { watchedCredentials } from "../runtime/transport/watched-credentials.js";
import { WatchedTls } from "../runtime/transport/watched-tls.js";
import { createApp } from "./app.js";
import type { GatewayConfig } from "./config.js";
import { Connections } from "./http/connections.js";
import { messageClassesOf } from "./http/express-prototypes.js";
import { rejectMalformedRequests } from "./http/malformed-request.js";
import { OpenStreams } from "./http/open-streams.js";
import type { GatewayMetrics } from "./metrics/gateway-metrics.js";
import { loadPages } from "./pages/pages.js";
import { ServerConnections } from "./upstream/connections.js";
import { PortChannel } from "./upstream/port-channel.js";
import { createUpstream } from "./upstream/upstream.js";

export interface Gateway {
  /** "host:port". */
  readonly address: string;
  /** Returns when the certificate in use expires, in Unix milliseconds; undefined without TLS. */
  certificateNotAfter(): number | undefined;
  /**
   * Takes no new connections, finishes the requests in flight within the grace period, and closes
   * all connections. Returns whether every request was finished. A second call returns the same
   * promise.
   */
  stop(): Promise<boolean>;
}

const SERVER_OPTIONS = {
  // The time in which a request, and its headers, must arrive.
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  // Load balancers usually close an idle connection after 60 seconds. The gateway waits longer, so
  // that it does not close a connection while the load balancer sends a request on it.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // The app refuses a request without Host, with a problem. Node would send an empty response.
  requireHostHeader: false,
};
const SILENT_SECONDS_MAX = 30;
// Connections that wait for accept; the system may allow fewer. It resets those beyond.
const BACKLOG = 4_096;

interface GatewayOptions {
  /** Undefined: the metrics are off. */
  readonly metrics?: GatewayMetrics | undefined;
  /** Undefined: no request is recorded. */
  readonly tracing?: Tracing | undefined;
  /** Takes the calls to the server of this process. Undefined: they go to `config.target`. */
  readonly calls?: MessagePort | undefined;
}

/**
 * Starts the gateway. Rejects when it cannot serve the contract or cannot listen on the address.
 */
export async function startGateway(
  config: Omit<GatewayConfig, "adminAddress">,
  log: Logger,
  { metrics, tracing, calls }: GatewayOptions = {},
): Promise<Gateway> {
  const contract = readContract(await readFile(CONTRACT_URL));
  const tls = config.tls === undefined ? undefined : new WatchedTls(config.tls, { log });
  const clientTls =
    config.clientTls !== undefined && calls === undefined ? new WatchedTls(config.clientTls, { log }) : undefined;
  const pages = await loadPages(contract, config);
  const channel =
    calls === undefined
      ? new ServerConnections({ target: config.target, credentials: watchedCredentials(config.target, clientTls) })
      : new PortChannel(calls);
  const upstream = createUpstream(contract.registry, { channel, bulkBytesMax: config.bulkBytesMax });
  const streams = new OpenStreams(config.streamsMax);
  metrics?.watch({ streams: () => streams.open });
  let stopping: Promise<boolean> | undefined;
  const app = createApp(
    {
      contract,
      upstream,
      log,
      streams,
      publicUrl: config.publicUrl,
      pages,
      meter: metrics?.requests,
      tracing,
      isStopping: () => stopping !== undefined,
    },
    {
      bodyBytesMax: config.bodyBytesMax,
      bulkBytesMax: config.bulkBytesMax,
      requestsMax: config.requestsMax,
      callMillisMax: config.callSecondsMax * 1_000,
    },
  );
  const server = createHttpServer({ ...SERVER_OPTIONS, ...messageClassesOf(app) }, tls);
  const release = (): void => {
    upstream.close();
    tls?.close();
    clientTls?.close();
  };
  const connections = new Connections(server, { app, log });
  rejectMalformedRequests(server, connections, { log, publicUrl: config.publicUrl });
  // Zero means no limit. Node would drop the headers beyond a limit without an error, and the API
  // key may be one of them. maxHeaderSize limits their size.
  server.maxHeadersCount = 0;
  server.maxConnections = config.connectionsMax;
  // Closes the connection of a client that does not read its response. Longer than the slowest
  // call, for which a client waits in silence.
  server.timeout = (config.callSecondsMax + SILENT_SECONDS_MAX) * 1_000;
  try {
    // Several threads listen on one address.
    server.listen({ ...config.listen, backlog: BACKLOG, reusePort: config.processes > 1 });
    await once(server, "listening");
  } catch (error) {
    release();
    throw error;
  }
  const stop = async (): Promise<boolean> => {
    const isClean = await closeHttpServer(server, config.shutdownGraceSeconds * 1_000, () => {
      connections.stop();
      streams.stop();
    });
    release();
    return isClean;
  };
  return {
    address: addressOf(server),
    certificateNotAfter: () => tls?.notAfter,
    stop: () => (stopping ??= stop()),
  };
}
