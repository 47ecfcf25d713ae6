import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { Logger } from "pino";

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
}

export interface ConnectionsOptions {
  readonly app: RequestListener;
  readonly isStopping: () => boolean;
  readonly log: Logger;
}

/** Hands the requests of all connections to the app, and knows which have no response yet. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #connections = new Map<Duplex, Connection>();

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.on("connection", (socket) => {
      this.#connections.set(socket, { openResponses: [], onAnswered: undefined });
      socket.once("close", () => this.#connections.delete(socket));
    });
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
  afterResponses(socket: Duplex, then: () => void): void {
    const connection = this.#connections.get(socket);
    if (connection?.onAnswered !== undefined) return;
    socket.pause();
    if (connection === undefined || isAnswered(connection)) then();
    else connection.onAnswered = then;
  }

  /** Whether the response to the request that arrives now has begun, before the request's end. */
  hasBegunResponse(socket: Duplex): boolean {
    const responses = this.#connections.get(socket)?.openResponses ?? [];
    return responses.some((res) => !res.req.complete && res.headersSent);
  }

  /** Cuts the connections without a request, and refuses the requests that have not fully arrived. */
  stop(): void {
    for (const [socket, { openResponses }] of this.#connections) {
      if (openResponses.length === 0) socket.destroy();
      for (const res of openResponses) {
        if (!res.headersSent) res.setHeader("Connection", "close");
        refuseIfIncomplete(res);
      }
    }
  }

  #take(socket: Socket, res: ServerResponse): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.onAnswered !== undefined) return;
    const { openResponses } = connection;
    const last = openResponses.at(-1);
    // Node sets no limit: one connection could bring more requests than all others together.
    if (last !== undefined && openResponses.length >= PIPELINED_REQUESTS_MAX) {
      if (!last.headersSent) last.setHeader("Connection", "close");
      this.#options.log.info({ requests_max: PIPELINED_REQUESTS_MAX }, "a connection has too many pipelined requests");
      this.afterResponses(socket, () => {
        socket.destroySoon();
      });
      return;
    }
    openResponses.push(res);
    res.once("close", () => {
      openResponses.splice(openResponses.indexOf(res), 1);
      if (connection.onAnswered !== undefined && isAnswered(connection)) connection.onAnswered();
    });
    const { app, isStopping } = this.#options;
    if (isStopping()) {
      res.setHeader("Connection", "close");
      setImmediate(refuseIfIncomplete, res);
    }
    app(res.req, res);
  }
}

function isAnswered({ openResponses }: Connection): boolean {
  return !openResponses.some((res) => res.req.complete);
}

/** A client that sends half a request must not keep a stopping gateway waiting. */
function refuseIfIncomplete(res: ServerResponse): void {
  if (!res.req.complete) sendProblem(res, shuttingDown());
}
