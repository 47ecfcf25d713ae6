import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

/** The connections that wait for their clients to close. One more cuts the oldest. */
export const LINGERING_MAX = 256;
const LINGER_MILLIS = 2_000;
const LINGER_BYTES_MAX = 1_048_576;

/**
 * Closes each connection in steps after its last response (RFC 9112, 9.6): closes the side that
 * sends, and discards what the client still sends. Only then, or after `LINGER_MILLIS` or
 * `LINGER_BYTES_MAX`, it closes the connection. At once, unread bytes would make the system reset
 * the connection, and a reset destroys the response that the client has not read.
 *
 * Node calls `destroySoon` after a response that says "Connection: close".
 */
export function closeInSteps(server: Server | TlsServer): void {
  const lingering = new Set<Socket>();
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    socket.destroySoon = () => {
      if (lingering.has(socket) || socket.destroyed) return;
      lingering.add(socket);
      const [oldest] = lingering;
      if (lingering.size > LINGERING_MAX) oldest?.destroy();
      discard(socket);
      socket.once("close", () => lingering.delete(socket));
    };
  });
}

function discard(socket: Socket): void {
  let bytes = 0;
  // The parser of HTTP must not find another request in what is discarded.
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) socket.destroy();
  });
  const late = setTimeout(() => socket.destroy(), LINGER_MILLIS);
  socket.once("close", () => {
    clearTimeout(late);
  });
  socket.once("end", () => socket.destroy());
  socket.end();
  socket.resume();
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Responds to what is no HTTP request as Node would, but closes the connection in steps. */
export function refuseMalformed(server: Server | TlsServer): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { _httpMessage: response } = socket as { readonly _httpMessage?: ServerResponse | null };
    // The text would become a part of the response that has begun.
    if (!canRespond(error, socket) || response?.headersSent === true) socket.destroy();
    else {
      socket.write(`HTTP/1.1 ${STATUS_LINES[error.code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
      socket.destroySoon();
    }
  });
}

/** Whether a client can read a response after the error: it is there, and its handshake is done. */
export function canRespond({ code = "" }: NodeJS.ErrnoException, socket: Socket): boolean {
  return socket.writable && code !== "ECONNRESET" && !/^ERR_(SSL|TLS)_/.test(code);
}
