import type { handleServerStreamingCall, Server, ServerWritableStream, UntypedHandleCall } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import type { Logger } from "pino";

import { traceOf } from "../../../runtime/error-trace.js";

export const HEALTH_SERVICE = "grpc.health.v1.Health";

export interface HealthOptions {
  /** The services to report on. The server itself is always reported as "". */
  readonly serviceNames: readonly string[];
  /** Resolves if the database is fit to serve: it responds, takes commits, and has our time. */
  readonly ping: () => Promise<unknown>;
  readonly logger: Logger;
}

interface WatchRequest {
  readonly service: string;
}

type WatchStream = ServerWritableStream<WatchRequest, unknown>;

const PING_MILLIS = 1_000;
// A database that takes longer than this counts as unavailable.
const PING_MILLIS_MAX = 5_000;

/**
 * Serves grpc.health.v1.Health without authentication. The status follows the last ping of the
 * database: SERVING if it succeeded, NOT_SERVING if it failed.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #names: readonly string[];
  readonly #implementation: HealthImplementation;
  readonly #watches = new Set<WatchStream>();
  /** Undefined until the first ping. */
  #serving: boolean | undefined;
  #stopped = false;
  #nextPing: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#names = ["", ...options.serviceNames, HEALTH_SERVICE];
    this.#implementation = new HealthImplementation(
      Object.fromEntries(this.#names.map((name) => [name, "NOT_SERVING" as const])),
    );
  }

  get isServing(): boolean {
    return this.#serving === true;
  }

  addTo(server: Server): void {
    this.#implementation.addToServer({
      addService: (definition, handlers: Record<string, UntypedHandleCall>) => {
        const watch = handlers["watch"] as handleServerStreamingCall<WatchRequest, unknown>;
        server.addService(definition, { ...handlers, watch: this.#watch(watch) });
      },
    });
  }

  /** Starts to ping. Resolves after the first ping. */
  async start(): Promise<void> {
    await this.#ping();
  }

  /** Reports NOT_SERVING from now on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#nextPing);
    this.#report(false);
  }

  /** Ends the open Watch streams. A stopping server would wait for them. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
    this.#watches.clear();
  }

  #watch(watch: handleServerStreamingCall<WatchRequest, unknown>): handleServerStreamingCall<WatchRequest, unknown> {
    return (stream) => {
      this.#watches.add(stream);
      stream.once("cancelled", () => this.#watches.delete(stream));
      // The package would keep an entry for ever of each name that a client makes up.
      if (this.#names.includes(stream.request.service)) watch(stream);
      else stream.write({ status: "SERVICE_UNKNOWN" });
    };
  }

  async #ping(): Promise<void> {
    const failure = await this.#failureOfPing();
    if (this.#stopped) return;
    const serving = failure === undefined;
    if (this.#serving !== serving) {
      if (serving) this.#options.logger.info("the check of the database succeeded: health is SERVING");
      else
        this.#options.logger.error(
          { trace: traceOf(failure) },
          "the check of the database failed: health is NOT_SERVING",
        );
    }
    this.#report(serving);
    this.#nextPing = setTimeout(() => void this.#ping(), PING_MILLIS);
    this.#nextPing.unref();
  }

  async #failureOfPing(): Promise<unknown> {
    let giveUp: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      giveUp = setTimeout(() => {
        reject(new Error(`the database did not respond within ${String(PING_MILLIS_MAX)} ms`));
      }, PING_MILLIS_MAX);
      giveUp.unref();
    });
    try {
      await Promise.race([this.#options.ping(), late]);
      return undefined;
    } catch (error) {
      return error ?? new Error("the ping failed");
    } finally {
      clearTimeout(giveUp);
    }
  }

  #report(serving: boolean): void {
    if (this.#serving === serving) return;
    this.#serving = serving;
    for (const name of this.#names) this.#implementation.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
  }
}
