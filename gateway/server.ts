import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import type { Logger } from "pino";

import { createApp } from "./app.js";
import type { GatewayConfig } from "./config.js";
import { CONTRACT_URL, readContract } from "./contract/contract.js";
import { messageClassesOf } from "./http/express-prototypes.js";
import { answerMalformedRequests } from "./http/malformed-request.js";
import { createUpstream } from "./upstream/upstream.js";

export interface Gateway {
  /** Where it listens: "host:port". */
  readonly address: string;
  /**
   * Takes no new connections, finishes the requests that it has, up to the grace period, and lets
   * go of everything. Answers whether all of them were finished. A second call waits for the first.
   */
  stop(): Promise<boolean>;
}

const SERVER_OPTIONS = {
  // How long a client may take to send a request, and its headers.
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the usual 60 seconds of a load balancer, so that it, not we, closes a silent
  // connection.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
};
const SILENT_SECONDS_MAX = 30;
// Connections that may wait to be taken; the system may allow fewer. Those that find no room are
// reset.
const BACKLOG = 4_096;
// Requests that are sent before the answer to the first. No browser and hardly any client does it.
const PIPELINED_REQUESTS_MAX = 16;

/**
 * Starts the gateway. Rejects when the contract cannot be served or the address not be listened on.
 */
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
      callMillisMax: config.callSecondsMax * 1_000,
    },
  );
  const server = createServer({ ...SERVER_OPTIONS, ...messageClassesOf(app) });
  const traffic = watchTraffic(server, app, () => stopping !== undefined);
  answerMalformedRequests(server, (socket) => traffic.get(socket)?.openAnswers ?? [], log);
  // Node leaves out those past a number, silently, and one of them may be a key. Their size is
  // limited above.
  server.maxHeadersCount = 0;
  server.maxConnections = config.connectionsMax;
  // A client that reads nothing of its answer is let go, but never one that waits for the slowest
  // call.
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

/**
 * What the server is busy with, as far as stopping must know it: the answers that are not finished,
 * by connection. (One set of all answers would keep each of them from the small garbage
 * collections: docs/adr/0015.)
 */
type Traffic = ReadonlyMap<Duplex, Connection>;
interface Connection {
  isUsed: boolean;
  readonly openAnswers: ServerResponse[];
}

function watchTraffic(server: Server, app: RequestListener, isStopping: () => boolean): Traffic {
  const connections = new Map<Duplex, Connection>();
  server.on("connection", (socket) => {
    connections.set(socket, { isUsed: false, openAnswers: [] });
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    // Node reads on and on: one connection could bring more requests than all others together.
    if (connection === undefined || connection.openAnswers.length >= PIPELINED_REQUESTS_MAX) {
      socket.destroy();
      return;
    }
    const { openAnswers } = connection;
    connection.isUsed = true;
    openAnswers.push(res);
    res.once("close", () => {
      openAnswers.splice(openAnswers.indexOf(res), 1);
    });
    if (isStopping()) res.setHeader("Connection", "close");
    app(req, res);
  });
  return connections;
}

/** Closes the server, by force after the grace period. Answers whether no force was needed. */
async function closeServer(server: Server, traffic: Traffic, graceMillis: number): Promise<boolean> {
  const closed = once(server, "close");
  let isClean = true;
  // Closes the idle connections too, but not those on which no request has come yet: Node would
  // wait for them.
  server.close();
  for (const [socket, { isUsed, openAnswers }] of traffic) {
    if (!isUsed) socket.destroy();
    for (const res of openAnswers) if (!res.headersSent) res.setHeader("Connection", "close");
  }
  const limit = setTimeout(() => {
    isClean = false;
    server.closeAllConnections();
  }, graceMillis);
  await closed;
  clearTimeout(limit);
  return isClean;
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${family === "IPv6" ? `[${address}]` : address}:${String(port)}`;
}
