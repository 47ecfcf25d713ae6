import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";

import { closeInSteps } from "./closing.js";
import { boundHandshakes, HANDSHAKE_MILLIS_MAX } from "./handshakes.js";
import { TLS_VERSION_MIN, type TlsMaterial } from "./tls.js";
import type { WatchedTls } from "./watched-tls.js";

export type HttpServer = Server | TlsServer;

/**
 * Makes a server, with TLS if there are files. New handshakes use the newest files. Connections
 * close in steps.
 */
export function createHttpServer(
  options: ServerOptions,
  tls: WatchedTls | undefined,
  listener?: RequestListener,
): HttpServer {
  if (tls === undefined) {
    const server = createServer(options, listener);
    closeInSteps(server);
    return server;
  }
  const context = { ...contextOf(tls.material), handshakeTimeout: HANDSHAKE_MILLIS_MAX };
  const server = createTlsServer({ ...options, ...context }, listener);
  boundHandshakes(server);
  closeInSteps(server);
  tls.onChange((next) => {
    server.setSecureContext(contextOf(next));
  });
  return server;
}

function contextOf({ cert, key }: TlsMaterial) {
  return { cert, key, minVersion: TLS_VERSION_MIN } as const;
}

/**
 * Closes the server, by force after the grace period. Takes no new connections before `stop` is
 * called, which ends what is open. Returns whether no force was needed.
 */
export async function closeHttpServer(server: HttpServer, graceMillis: number, stop: () => void): Promise<boolean> {
  const closed = once(server, "close");
  let isClean = true;
  server.close();
  stop();
  const force = setTimeout(() => {
    isClean = false;
    server.closeAllConnections();
  }, graceMillis);
  await closed;
  clearTimeout(force);
  return isClean;
}

/** Returns "host:port" of a server that listens. */
export function addressOf(server: Pick<HttpServer, "address">): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${family === "IPv6" ? `[${address}]` : address}:${String(port)}`;
}

/** Returns what breaks a rule of HTTP/1.1 that Node does not check (RFC 9112, 2.3 and 3.2). */
export function breachOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "The version of the request must be HTTP/1.1.";
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name));
  if (hosts.length > 1) return "The header Host must be sent only once.";
  return hosts.length === 0 && httpVersion === "1.1" ? "The header Host is missing." : undefined;
}

/**
 * Whether a part of the body has not arrived. A response must then say "Connection: close". HAProxy
 * 2.6.12 keeps a connection although its client left in the middle of a body, and sends the request
 * of another client on it: the server would read that request as the rest of the body.
 */
export function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
}
