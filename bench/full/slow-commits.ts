import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The command tag of a COMMIT in the PostgreSQL protocol. */
const COMMITTED = "COMMIT\0";

/**
 * Forwards connections to PostgreSQL, and delays the answer to each COMMIT as a synchronous standby
 * does. Returns the port that it listens on.
 */
export async function slowCommits(target: number, delayMillis: number): Promise<{ port: number; stop: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
    }
    client.on("data", (bytes: Buffer) => upstream.write(bytes));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    // Answers keep their order: each waits for the one before it.
    let last = Promise.resolve();
    upstream.on("data", (bytes: Buffer) => {
      const delay = bytes.toString("latin1").includes(COMMITTED) ? delayMillis : 0;
      last = last.then(
        () =>
          new Promise((resolve) => {
            if (delay === 0) {
              client.write(bytes);
              resolve();
            } else {
              setTimeout(() => {
                client.write(bytes);
                resolve();
              }, delay);
            }
          }),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
