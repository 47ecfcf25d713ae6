import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, isIP, type ListenOptions, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server as TlsServer } from "node:tls";

import type { WatchedTls } from "../../../runtime/transport/watched-tls.js";
import { endTls } from "./tls-end.js";

// A client closes its side when it reads that the server has closed the other one. A connection
// that is still open after this time is cut.
const LINGER_MILLIS = 250;

export interface ListenerOptions {
  /** Undefined: without TLS. A Unix socket never has TLS. */
  readonly tls: Pick<WatchedTls, "material" | "onChange"> | undefined;
  /** Called with each connection, with TLS once its handshake has ended. */
  readonly onConnection: (socket: Socket) => void;
}

/** Listens for connections, and knows those that are open. */
export class Listener {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #onConnection: (socket: Socket) => void;
  readonly #tlsServer: TlsServer | undefined;
  #closed = Promise.resolve();

  private constructor({ tls, onConnection }: ListenerOptions) {
    this.#onConnection = onConnection;
    this.#tlsServer = tls === undefined ? undefined : endTls(tls, { onSecure: onConnection });
  }

  /**
   * Listens on "host:port" or "unix:/path". A name of a host can have several addresses; the
   * listener takes all that this machine has.
   */
  static async open(address: string, options: ListenerOptions): Promise<{ listener: Listener; address: string }> {
    const isSocket = socketPathOf(address) !== undefined;
    const listener = new Listener(isSocket ? { ...options, tls: undefined } : options);
    try {
      return { listener, address: await listener.#listen(address) };
    } catch (error) {
      listener.stopAccepting();
      throw new Error(`cannot listen on ${address}`, { cause: error });
    }
  }

  stopAccepting(): void {
    const listening = this.#servers.splice(0).filter((server) => server.listening);
    this.#closed = Promise.all(listening.map((server) => once(server.close(), "close"))).then(() => undefined);
  }

  /**
   * Resolves when all connections are closed. Cuts those whose clients do not close them soon. Each
   * response must have been sent.
   */
  async closeConnections(): Promise<void> {
    await Promise.race([this.#closed, sleep(LINGER_MILLIS)]);
    for (const socket of this.#sockets) socket.destroy();
    await this.#closed;
  }

  async #listen(address: string): Promise<string> {
    const path = socketPathOf(address);
    if (path !== undefined) {
      await removeStaleSocket(path);
      await this.#add({ path });
      return address;
    }
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    let port = Number(address.slice(colon + 1));
    const hosts = isIP(host) === 0 ? (await lookup(host, { all: true })).map((found) => found.address) : [host];
    let missing: unknown;
    for (const one of new Set(hosts)) {
      try {
        port = ((await this.#add({ host: one, port })) as AddressInfo).port;
      } catch (error) {
        // "localhost" has an IPv6 address also on a machine without IPv6.
        if ((error as NodeJS.ErrnoException).code !== "EADDRNOTAVAIL") throw error;
        missing = error;
      }
    }
    if (!this.#servers.some((server) => server.listening)) throw missing;
    return `${address.slice(0, colon)}:${String(port)}`;
  }

  async #add(options: ListenOptions): Promise<ReturnType<Server["address"]>> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      if (this.#tlsServer === undefined) this.#onConnection(socket);
      else this.#tlsServer.emit("connection", socket);
    });
    this.#servers.push(server);
    await once(server.listen(options), "listening");
    return server.address();
  }
}

const UNIX = "unix:";

/** Returns the path of "unix:/path" or "unix:///path", and undefined for "host:port". */
function socketPathOf(address: string): string | undefined {
  return address.startsWith(UNIX) ? address.slice(UNIX.length).replace(/^\/\/(?=\/)/, "") : undefined;
}

/**
 * Removes the socket file that a killed server left behind. Keeps the file if a process listens on
 * it; binding then fails.
 */
async function removeStaleSocket(path: string): Promise<void> {
  if ((await connectFailure(path)) === "ECONNREFUSED") await rm(path, { force: true });
}

function connectFailure(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code);
    });
  });
}
