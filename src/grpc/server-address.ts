import { rm } from "node:fs/promises";
import { connect } from "node:net";

const UNIX = "unix:";

/** The address with the port that was bound in place of 0. */
export function boundAddress(address: string, port: number): string {
  return address.startsWith(UNIX) ? address : address.replace(/:0$/, `:${String(port)}`);
}

/**
 * Removes the socket file of a server that was killed; one that someone listens on stays, and
 * binding to it fails.
 */
export async function removeStaleSocket(address: string): Promise<void> {
  if (!address.startsWith(UNIX)) return;
  const path = address.slice(UNIX.length).replace(/^\/\/(?=\/)/, "");
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
