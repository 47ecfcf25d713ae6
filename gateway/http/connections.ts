import type { RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

import type { Logger } from "pino";

import { breachOf, type HttpServer } from "../../runtime/transport/http-server.js";
import { shuttingDown } from "../problems/problem.js";
import { sendProblem } from "./response.js";

// Requests on one connection before the response to the first. Browsers and most clients send one.
const PIPELINED_REQUESTS_MAX = 16;

interface Connection {
  /**
   * A short list for each connection, because one Set of all responses keeps removed ones alive.
   * The measures of ADR 15 together cut the survivors of garbage collections from 42 to 4 %.
   */
  readonly openResponses: ServerResponse[];
  /** Called once all requests that have fully arrived are answered. No other is taken then. */
  onAnswered: (() => void) | undefined;
  /** Whether a request has broken a rule: its response is the last one, and no other is taken. */
  isEnding: boolean;
}

export interface ConnectionsOptions {
  readonly app: RequestListener;
  readonly log: Logger;
}

/** Hands the requests of all connections to the app, and knows which have no response yet. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #connections = new Map<Socket, Connection>();
  #isStopped = false;

  constructor(server: HttpServer, options: ConnectionsOptions) {
    this.#options = options;
    server.on("connection", (socket: Socket) => {
      this.#open(socket);
    });
    if (server instanceof TlsServer) this.#followHandshakes(server);
    const take: RequestListener = (req, res) => {
      this.#take(req.socket, res);
    };
    server.on("request", take);
    // Without this, Node refuses unknown expectations itself.
    server.on("checkExpectation", take);
  }

  /**
   * Takes no more requests from the connection. Calls `then` when those that have fully arrived are
   * answered: their clients must learn what was done. A second call on a connection does nothing.
   */
  afterResponses(socket: Socket, then: () => void): void {
    const connection = this.#connections.get(socket);
    if (connection?.onAnswered !== undefined) return;
    socket.pause();
    if (connection === undefined || isAnswered(connection)) then();
    else connection.onAnswered = then;
  }

  /** Whether the response to the request that arrives now has begun, before the request's end. */
  hasBegunResponse(socket: Socket): boolean {
    const responses = this.#connections.get(socket)?.openResponses ?? [];
    return responses.some((res) => !res.req.complete && res.headersSent);
  }

  /**
   * Takes no more requests. Closes each connection when its requests are answered, and those
   * without a request at once. A request that has not fully arrived is refused.
   */
  stop(): void {
    this.#isStopped = true;
    for (const [socket, { openResponses }] of this.#connections) {
      for (const res of openResponses) if (!res.req.complete) sendProblem(res, shuttingDown());
      if (openResponses.length === 0) socket.destroy();
      else this.#closeAfterResponses(socket, openResponses);
    }
  }

  #open(socket: Socket): void {
    // A process of a cluster can get a connection late.
    if (this.#isStopped) socket.destroy();
    const openResponses: ServerResponse[] = [];
    this.#connections.set(socket, { openResponses, onAnswered: undefined, isEnding: false });
    socket.once("close", () => {
      this.#connections.delete(socket);
      for (const res of [...openResponses]) closeWithoutSocket(res);
    });
  }

  /** After the handshake Node uses a socket of its own, on top of the one of the connection. */
  #followHandshakes(server: TlsServer): void {
    const handshakes = new Map<string, Socket>();
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      handshakes.set(peer, socket);
      socket.once("close", () => handshakes.delete(peer));
    });
    server.on("secureConnection", (socket) => {
      const underneath = handshakes.get(peerOf(socket));
      if (underneath !== undefined) this.#connections.delete(underneath);
      this.#open(socket);
    });
  }

  #take(socket: Socket, res: ServerResponse): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.onAnswered !== undefined || connection.isEnding) return;
    const { openResponses } = connection;
    connection.isEnding = breachOf(res.req) !== undefined;
    // Node sets no limit: one connection could bring more requests than all others together.
    if (openResponses.length >= PIPELINED_REQUESTS_MAX) {
      this.#options.log.info({ requests_max: PIPELINED_REQUESTS_MAX }, "a connection has too many pipelined requests");
      this.#closeAfterResponses(socket, openResponses);
      return;
    }
    openResponses.push(res);
    res.once("close", () => {
      openResponses.splice(openResponses.indexOf(res), 1);
      if (connection.onAnswered !== undefined && isAnswered(connection)) connection.onAnswered();
    });
    this.#options.app(res.req, res);
  }

  #closeAfterResponses(socket: Socket, openResponses: readonly ServerResponse[]): void {
    // The header of an earlier response would end the connection before the later ones.
    const last = openResponses.at(-1);
    if (last?.headersSent === false) last.setHeader("Connection", "close");
    this.afterResponses(socket, () => {
      socket.destroySoon();
    });
  }
}

/**
 * Closes a response that waited behind another one of its connection. Node closes only the response
 * that has the socket, so the places of the others would be taken for ever.
 */
function closeWithoutSocket(res: ServerResponse): void {
  if (res.socket !== null) return;
  res.destroy();
  res.emit("close");
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ""} ${String(remotePort)}`;
}

function isAnswered({ openResponses }: Connection): boolean {
  return !openResponses.some((res) => res.req.complete);
}
