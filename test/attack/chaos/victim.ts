import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../../support/postgres-node.js";
import { RunningKesc, type Variables } from "../../support/service/kesc.js";

const START_MILLIS_MAX = 60_000;

/** `kesc server`, and whoever starts it again when it has gone. */
export class Victim {
  readonly address: string;
  readonly #variables: Variables;
  #server: RunningKesc | undefined;
  #died: string | undefined;

  private constructor(databaseUrl: string, port: number) {
    this.address = `127.0.0.1:${String(port)}`;
    this.#variables = { DATABASE_URL: databaseUrl, KESC_GRPC_ADDRESS: this.address, KESC_LOG_LEVEL: "fatal" };
  }

  static async create(databaseUrl: string): Promise<Victim> {
    return new Victim(databaseUrl, await freePort());
  }

  /** What it said when it ended by itself after it had been ready, which it must never do. */
  get died(): string | undefined {
    return this.#died;
  }

  /** As often as it takes: it does not start while its database does not answer. */
  async start(): Promise<void> {
    const deadline = Date.now() + START_MILLIS_MAX;
    for (;;) {
      const server = new RunningKesc(["server"], this.#variables);
      this.#server = server;
      try {
        await server.ready;
        void server.exited.then((exit) => {
          if (this.#server === server) this.#died = `kesc server ended with ${String(exit)}: ${server.stderr}`;
        });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.end("SIGKILL");
  }
}
