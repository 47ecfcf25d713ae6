import { atTheEnd } from "./at-the-end.js";
import { PostgresNode } from "./postgres-node.js";

/**
 * A real PostgreSQL from the package registry, which belongs to the tests, on a free port of the
 * loopback interface.
 */
export interface PostgresServer {
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Kills the server as a power cut would. */
  crash(): Promise<void>;
  /** Starts the server again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

let shared: Promise<PostgresServer> | undefined;

/** The server that all suites share. The first call starts it; it stops after the last test. */
export function sharedPostgres(): Promise<PostgresServer> {
  if (shared === undefined) {
    shared = startPostgres();
    atTheEnd(async () => {
      await (await shared)?.stop();
    });
  }
  return shared;
}

export async function startPostgres(): Promise<PostgresServer> {
  const node = await PostgresNode.create();
  await node.start();
  let databases = 0;
  return {
    createDatabase() {
      databases += 1;
      return node.createDatabase(`kesc_${String(databases)}`);
    },
    crash: () => node.end("SIGQUIT"),
    async restart() {
      await node.end("SIGINT");
      await node.start();
    },
    async stop() {
      await node.end("SIGINT");
      node.removeData();
    },
  };
}
