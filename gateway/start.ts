import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "pino";
import { createApp } from "./app.js";
import type { GatewayConfig } from "./config.js";
import { CONTRACT_URL, readContract } from "./contract.js";
import { answerMalformedRequests } from "./malformed-request.js";
import { createUpstream } from "./upstream.js";

export type Gateway = {
  /** Where it listens: "host:port". */
  readonly address: string;
  /**
   * Takes no new connections, finishes the requests that it has, up to the grace period, and lets go of everything.
   * Answers whether all of them were finished. A second call waits for the first.
   */
  stop(): Promise<boolean>;
};

const SERVER_OPTIONS = {
  // How long a client may take to send a request, and its headers.
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the usual 60 seconds of a load balancer, so that it, not we, closes a silent connection.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
};
const SILENT_SECONDS_MAX = 30;
// Connections that may wait to be taken; the system may allow fewer. Those that find no room are reset.
const BACKLOG = 4_096;
// Requests that are sent before the answer to the first. No browser and hardly any client does it.
const PIPELINED_REQUESTS_MAX = 16;

/** Starts the gateway. Rejects when the contract cannot be served or the address not be listened on. */
export async function startGateway(config: Omit<GatewayConfig, "processes">, log: Logger): Promise<Gateway> {
  const contract = readContract(await readFile(CONTRACT_URL));
  const upstream = createUpstream(contract.registry, config.target, config.bulkBytesMax);
  let stopping: Promise<boolean> | undefined;
  const app = createApp(
    { contract, upstream, log, isStopping: () => stopping !== undefined },
    {
      bodyBytesMax: config.bodyBytesMax,
      bulkBytesMax: config.bulkBytesMax,
      requestsMax: config.requestsMax,
      callMsMax: config.callSecondsMax * 1_000,
    },
  );
  const server = createServer(SERVER_OPTIONS);
  const traffic = watchTraffic(server, app, () => stopping !== undefined);
  answerMalformedRequests(server, traffic.openAnswers, log);
  // Node leaves out those past a number, silently, and one of them may be a key. Their size is limited above.
  server.maxHeadersCount = 0;
  server.maxConnections = config.connectionsMax;
  // A client that reads nothing of its answer is let go, but never one that waits for the slowest call.
  server.timeout = (config.callSecondsMax + SILENT_SECONDS_MAX) * 1_000;
  try {
    server.listen({ ...config.listen, backlog: BACKLOG });
    await once(server, "listening");
  } catch (error) {
    upstream.close();
    throw error;
  }
  const stop = async (): Promise<boolean> => {
    const isClean = await closeServer(server, traffic, config.shutdownGraceSeconds * 1_000);
    upstream.close();
    return isClean;
  };
  return { address: addressOf(server), stop: () => (stopping ??= stop()) };
}

/** What the server is busy with, as far as stopping must know it. */
type Traffic = { readonly unusedSockets: ReadonlySet<Socket>; readonly openAnswers: ReadonlySet<ServerResponse> };

function watchTraffic(server: Server, app: RequestListener, isStopping: () => boolean): Traffic {
  const unusedSockets = new Set<Socket>();
  const openAnswers = new Set<ServerResponse>();
  const requestsOn = new WeakMap<Socket, number>();
  server.on("connection", (socket) => {
    unusedSockets.add(socket);
    socket.once("close", () => unusedSockets.delete(socket));
  });
  server.on("request", (req, res) => {
    const { socket } = req;
    const requests = (requestsOn.get(socket) ?? 0) + 1;
    // Node reads on and on: one connection could bring more requests than all others together.
    if (requests > PIPELINED_REQUESTS_MAX) {
      socket.destroy();
      return;
    }
    requestsOn.set(socket, requests);
    unusedSockets.delete(socket);
    openAnswers.add(res);
    res.once("close", () => {
      openAnswers.delete(res);
      requestsOn.set(socket, (requestsOn.get(socket) ?? 0) - 1);
    });
    if (isStopping()) res.setHeader("Connection", "close");
    app(req, res);
  });
  return { unusedSockets, openAnswers };
}

/** Closes the server, by force after the grace period. Answers whether no force was needed. */
async function closeServer(server: Server, traffic: Traffic, graceMs: number): Promise<boolean> {
  const closed = once(server, "close");
  let isClean = true;
  // Closes the idle connections too, but not those on which no request has come yet: Node would wait for them.
  server.close();
  for (const socket of traffic.unusedSockets) socket.destroy();
  for (const res of traffic.openAnswers) if (!res.headersSent) res.setHeader("Connection", "close");
  const limit = setTimeout(() => {
    isClean = false;
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearTimeout(limit);
  return isClean;
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${family === "IPv6" ? `[${address}]` : address}:${String(port)}`;
}
