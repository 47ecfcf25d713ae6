import { type Server, type ServerWritableStream, status as Status } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { traceOf } from "../../../runtime/error-trace.js";
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
  type HealthServer,
  HealthService,
} from "../../gen/health/v1/health.js";

export const HEALTH_SERVICE = "grpc.health.v1.Health";

export interface HealthOptions {
  /** The services to report on. The server itself is always reported as "". */
  readonly serviceNames: readonly string[];
  /** Resolves if the database is fit to serve: it responds, takes commits, and has our time. */
  readonly ping: () => Promise<unknown>;
  readonly logger: Logger;
}

type WatchStream = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

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
  readonly #watches = new Set<WatchStream>();
  /** Undefined until the first ping. */
  #serving: boolean | undefined;
  #stopped = false;
  #nextPing: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#names = ["", ...options.serviceNames, HEALTH_SERVICE];
  }

  get isServing(): boolean {
    return this.#serving === true;
  }

  addTo(server: Server): void {
    server.addService(HealthService, {
      check: ({ request: { service } }, callback) => {
        if (this.#names.includes(service)) callback(null, this.#response());
        else callback({ code: Status.NOT_FOUND, details: `Health status unknown for service ${service}` });
      },
      watch: (stream) => {
        this.#watches.add(stream);
        stream.once("cancelled", () => this.#watches.delete(stream));
        // The status of a service that does not exist never changes.
        stream.write(
          this.#names.includes(stream.request.service) ? this.#response() : { status: ServingStatus.SERVICE_UNKNOWN },
        );
      },
      list: (_, callback) => {
        callback(null, { statuses: new Map(this.#names.map((name) => [name, this.#response()])) });
      },
    } satisfies HealthServer);
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

  #response(): HealthCheckResponse {
    return { status: this.isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING };
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
    for (const watch of this.#watches) {
      if (this.#names.includes(watch.request.service)) watch.write(this.#response());
    }
  }
}
