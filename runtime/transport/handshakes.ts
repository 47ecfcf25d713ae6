import type { Socket } from "node:net";
import type { Server } from "node:tls";

/** The time that a TLS handshake may take. */
export const HANDSHAKE_MILLIS_MAX = 10_000;

/** The TLS handshakes that a program waits for at a time. */
export const HANDSHAKES_MAX = 1_000;

/**
 * Bounds the TLS handshakes under way at a server. Beyond the bound, a new handshake cuts the
 * oldest one. An honest client ends its handshake long before a thousand others have begun theirs.
 */
export function boundHandshakes(server: Server, handshakesMax = HANDSHAKES_MAX): void {
  // A Map keeps the order in which the handshakes began.
  const underWay = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const ends = endsOf(socket);
    underWay.set(ends, socket);
    socket.once("close", () => underWay.delete(ends));
    if (underWay.size <= handshakesMax) return;
    const [oldest] = underWay.values();
    oldest?.destroy();
  });
  // The socket of the session is another one, with the same ends.
  server.on("secureConnection", (socket) => underWay.delete(endsOf(socket)));
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress ?? ""} ${remoteAddress ?? ""} ${String(remotePort)}`;
}
