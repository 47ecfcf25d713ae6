import { once } from "node:events";
import { readFile } from "node:fs/promises";

import type { Logger } from "pino";

import { refuseMalformed } from "../runtime/transport/closing.js";
import { addressOf, closeHttpServer, createHttpServer } from "../runtime/transport/http-server.js";
import { watchedCredentials } from "../runtime/transport/watched-credentials.js";
import { WatchedTls } from "../runtime/transport/watched-tls.js";
import type { createApp } from "./app.js";
import type { ConsoleConfig } from "./config.js";
import { shareConnections } from "./http/limits.js";
import type { Upstream } from "./upstream/upstream.js";

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

interface ConsoleOptions {
  readonly connectionsMax?: number;
  /** Whether the pages, some 20 MiB, are loaded at the first request. */
  readonly isLazy?: boolean;
  readonly readMillisMax?: number;
}

type Pages = ReturnType<typeof createApp> & { readonly upstream: Upstream };

/** Starts the console. Rejects when it cannot listen on the address. */
export async function startConsole(
  config: Omit<ConsoleConfig, "logLevel">,
  log: Logger,
  { connectionsMax = CONNECTIONS_MAX, isLazy = false, readMillisMax }: ConsoleOptions = {},
): Promise<RunningConsole> {
  const tls = config.tls === undefined ? undefined : new WatchedTls(config.tls, { log });
  const clientTls = config.clientTls === undefined ? undefined : new WatchedTls(config.clientTls, { log });
  let pages: Promise<Pages> | undefined;
  const loaded = (): Promise<Pages> => (pages ??= loadPages({ ...config, clientTls, readMillisMax }, log));
  const release = async (): Promise<void> => {
    (await pages)?.upstream.close();
    tls?.close();
    clientTls?.close();
  };
  const server = createHttpServer(SERVER_OPTIONS, tls, (req, res) => {
    void loaded().then(({ app }) => {
      app(req, res);
    });
  });
  refuseMalformed(server);
  shareConnections(server, connectionsMax);
  try {
    if (!isLazy) await loaded();
    server.listen(config.listen);
    await once(server, "listening");
  } catch (error) {
    await release();
    throw error;
  }
  return {
    address: addressOf(server),
    async stop() {
      const live = (await pages)?.live;
      const isClean = await closeHttpServer(server, config.shutdownGraceSeconds * 1_000, () => {
        server.closeIdleConnections();
        live?.stop();
      });
      await release();
      return isClean;
    },
  };
}

interface PagesOptions extends Pick<ConsoleConfig, "target" | "origin"> {
  readonly clientTls: WatchedTls | undefined;
  readonly readMillisMax: number | undefined;
}

async function loadPages({ origin, clientTls, ...options }: PagesOptions, log: Logger): Promise<Pages> {
  const [{ createApp: create }, { ConsoleContract, CONTRACT_URLS }, { createUpstream }] = await Promise.all([
    import("./app.js"),
    import("./upstream/contract.js"),
    import("./upstream/upstream.js"),
  ]);
  const contract = new ConsoleContract(await Promise.all(CONTRACT_URLS.map((url) => readFile(url))));
  const upstream = createUpstream(contract, {
    ...options,
    credentials: watchedCredentials(options.target, clientTls),
  });
  return { ...create({ upstream, contract, log, origin }), upstream };
}
