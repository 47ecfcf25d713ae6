import { rm } from "node:fs/promises";
import { connect } from "node:net";

const UNIX = "unix:";

export function isUnixSocket(address: string): boolean {
  return address.startsWith(UNIX);
}

/** Returns the address with the bound port in place of port 0. */
export function boundAddress(address: string, port: number): string {
  return isUnixSocket(address) ? address : address.replace(/:0$/, `:${String(port)}`);
}

/**
 * Removes the socket file that a killed server left behind. Keeps the file if a process listens on
 * it; binding then fails.
 */
export async function removeStaleSocket(address: string): Promise<void> {
  if (!isUnixSocket(address)) return;
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
