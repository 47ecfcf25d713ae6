import { once } from "node:events";
import { readFile } from "node:fs/promises";

import type { Logger } from "pino";

import { refuseMalformed } from "../runtime/transport/closing.js";
import { addressOf, closeHttpServer, createHttpServer } from "../runtime/transport/http-server.js";
import { watchedCredentials } from "../runtime/transport/watched-credentials.js";
import { WatchedTls } from "../runtime/transport/watched-tls.js";
import { createApp } from "./app.js";
import type { ConsoleConfig } from "./config.js";
import { shareConnections } from "./http/limits.js";
import { ConsoleContract, CONTRACT_URLS } from "./upstream/contract.js";
import { createUpstream } from "./upstream/upstream.js";

export interface RunningConsole {
  /** "host:port". */
  readonly address: string;
  /**
   * Takes no new connections, and finishes the requests in flight within the grace period. Returns
   * whether every request was finished.
   */
  stop(): Promise<boolean>;
}

const SERVER_OPTIONS = {
  // The time in which a request must arrive, also one with a statement of 32 MiB, and its headers.
  requestTimeout: 60_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  // Longer than load balancers keep an idle connection, as in the gateway.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
};
const CONNECTIONS_MAX = 2_000;

/** Starts the console. Rejects when it cannot listen on the address. */
export async function startConsole(
  config: Omit<ConsoleConfig, "logLevel">,
  log: Logger,
  { connectionsMax } = { connectionsMax: CONNECTIONS_MAX },
): Promise<RunningConsole> {
  const contract = new ConsoleContract(await Promise.all(CONTRACT_URLS.map((url) => readFile(url))));
  const tls = config.tls === undefined ? undefined : new WatchedTls(config.tls, { log });
  const clientTls = config.clientTls === undefined ? undefined : new WatchedTls(config.clientTls, { log });
  const upstream = createUpstream(contract, {
    target: config.target,
    credentials: watchedCredentials(config.target, clientTls),
  });
  const release = (): void => {
    upstream.close();
    tls?.close();
    clientTls?.close();
  };
  const { app, live } = createApp({ upstream, contract, log, origin: config.origin });
  const server = createHttpServer(SERVER_OPTIONS, tls, app);
  refuseMalformed(server);
  shareConnections(server, connectionsMax);
  try {
    server.listen(config.listen);
    await once(server, "listening");
  } catch (error) {
    release();
    throw error;
  }
  return {
    address: addressOf(server),
    async stop() {
      const isClean = await closeHttpServer(server, config.shutdownGraceSeconds * 1_000, () => {
        server.closeIdleConnections();
        live.stop();
      });
      release();
      return isClean;
    },
  };
}
