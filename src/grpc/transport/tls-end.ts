import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";

import { boundHandshakes, HANDSHAKE_MILLIS_MAX, HANDSHAKES_MAX } from "../../../runtime/transport/handshakes.js";
import { TLS_VERSION_MIN, type TlsMaterial } from "../../../runtime/transport/tls.js";
import type { WatchedTls } from "../../../runtime/transport/watched-tls.js";

export interface TlsEndOptions {
  /** Called with each connection whose handshake has ended. */
  readonly onSecure: (socket: Socket) => void;
  readonly handshakeMillisMax?: number;
  /** Maximum number of handshakes under way. One more cuts the oldest. */
  readonly handshakesMax?: number;
}

/**
 * Returns a server that takes connections through its event "connection", and passes each on
 * when its handshake has ended. New handshakes use the newest files; open connections stay.
 *
 * With a CA each client must present a certificate that this CA has signed.
 */
export function endTls(
  tls: Pick<WatchedTls, "material" | "onChange">,
  { onSecure, handshakeMillisMax = HANDSHAKE_MILLIS_MAX, handshakesMax = HANDSHAKES_MAX }: TlsEndOptions,
): Server {
  const server = createServer(
    {
      ...contextOf(tls.material),
      requestCert: tls.material.ca !== undefined,
      rejectUnauthorized: true,
      ALPNProtocols: ["h2"],
      handshakeTimeout: handshakeMillisMax,
    },
    (socket) => {
      // Without a listener the error of a lost connection ends the process.
      socket.on("error", () => undefined);
      onSecure(socket);
    },
  );
  boundHandshakes(server, handshakesMax);
  server.on("tlsClientError", (_, socket) => {
    socket.destroy();
  });
  tls.onChange((next) => {
    server.setSecureContext(contextOf(next));
  });
  return server;
}

/** Node takes each part anew: what is missing falls back to its default. */
function contextOf({ cert, key, ca }: TlsMaterial) {
  return { cert, key, ca, minVersion: TLS_VERSION_MIN } as const;
}
