import { rm } from "node:fs/promises";
import { connect } from "node:net";

const UNIX = "unix:";

/** Returns the path of "unix:/path" or "unix:///path", and undefined for "host:port". */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith(UNIX) ? address.slice(UNIX.length).replace(/^\/\/(?=\/)/, "") : undefined;
}

/**
 * Removes the socket file that a killed server left behind. Keeps the file if a process listens on
 * it; binding then fails.
 */
export async function removeStaleSocket(path: string): Promise<void> {
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
