import { eventually } from "../../support/eventually.js";
import { RunningKesc } from "../../support/service/kesc.js";

const START_MILLIS_MAX = 60_000;

/** `kesc server`, always on the same address, and a supervisor that starts it again. */
export class Victim {
  readonly #databaseUrl: string;
  /** The port that the first start found is the port of every later start. */
  #address = "127.0.0.1:0";
  #server: RunningKesc | undefined;
  #died: string | undefined;

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  get address(): string {
    return this.#address;
  }

  /** The last words of a server that ended by itself, which must never happen. */
  get died(): string | undefined {
    return this.#died;
  }

  /**
   * Tries until the server is ready: it does not start while its database does not answer.
   * `program` is the kesc of another build.
   */
  async start(program?: string): Promise<void> {
    let failure = "";
    const isReady = async (): Promise<boolean> => {
      const variables = {
        DATABASE_URL: this.#databaseUrl,
        KESC_GRPC_ADDRESS: this.#address,
        KESC_LOG_LEVEL: "fatal",
        KESC_RATE_CALLS_PER_SECOND: "0",
        KESC_RATE_LISTS_PER_SECOND: "0",
      };
      const server = new RunningKesc(["server"], variables, program === undefined ? {} : { program });
      this.#server = server;
      try {
        this.#address = (await server.ready).address;
      } catch (error) {
        failure = String(error);
        return false;
      }
      void server.exited.then((exit) => {
        if (this.#server === server) this.#died = `kesc server ended with ${String(exit)}: ${server.stderr}`;
      });
      return true;
    };
    await eventually(isReady, { millisMax: START_MILLIS_MAX, what: () => failure });
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops the server as a supervisor does. Resolves with its exit code. */
  stop(): Promise<number | string | undefined> {
    return this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<number | string | undefined> {
    const server = this.#server;
    this.#server = undefined;
    return server?.end(signal);
  }
}
