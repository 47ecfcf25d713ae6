import type { MessagePort } from "node:worker_threads";

import type { Logger } from "pino";

import { flushLog } from "../runtime/log.js";
import type { MetricsJson } from "../runtime/metrics/metrics.js";
import { openTracing, TracingError } from "../runtime/tracing/tracing.js";
import { TlsFileError } from "../runtime/transport/tls.js";
import type { GatewayConfig } from "./config.js";
import { GatewayMetrics } from "./metrics/gateway-metrics.js";
import { type Gateway, startGateway } from "./server.js";

/** A gateway that runs, in this thread or in others. */
export interface GatewayProgram {
  /** "host:port". */
  readonly address: string;
  /** Resolves with the exit code of a thread that has ended by itself. */
  readonly ended: Promise<number>;
  /** Returns the metrics of each thread. */
  metrics(): Promise<readonly MetricsJson[]>;
  /** Finishes the requests in flight, and writes the log. Returns whether all were finished. */
  stop(): Promise<boolean>;
}

/** Why the gateway could not start, in one sentence. */
export class GatewayStartError extends Error {
  /** Whether a variable is to blame, as an address in use is not. */
  readonly isUsage: boolean;

  constructor(message: string, { isUsage = false } = {}) {
    super(message);
    this.isUsage = isUsage;
  }
}

export interface ProgramOptions {
  readonly log: Logger;
  /** Takes the calls to the server of this process. Undefined: the gateway calls its target. */
  readonly calls?: MessagePort | undefined;
  /** Whether the metrics have those of the process. */
  readonly hasProcess?: boolean;
}

/** Starts a gateway in this thread. Throws a GatewayStartError. */
export async function runGateway(
  config: GatewayConfig,
  { log, calls, hasProcess = true }: ProgramOptions,
): Promise<GatewayProgram> {
  const metrics = config.adminAddress === undefined ? undefined : new GatewayMetrics({ hasProcess });
  try {
    const tracing = await openTracing(process.env, "kesc-gateway", (problem) => {
      log.warn({ problem }, "spans were not exported");
    });
    const gateway = await startGateway(config, log, { metrics, tracing, calls });
    const target = calls === undefined ? config.target : "this process";
    log.info({ address: gateway.address, target, ...expiryOf(gateway) }, "ready");
    // An operator who waits for this line need not wait for the next flush.
    log.flush();
    return {
      address: gateway.address,
      ended: new Promise(() => undefined),
      metrics: async () => (metrics === undefined ? [] : [await metrics.json()]),
      stop: async () => {
        log.info("stopping");
        const isClean = await gateway.stop();
        await tracing?.stop();
        log.info({ clean: isClean }, "stopped");
        await flushLog(log);
        return isClean;
      },
    };
  } catch (error) {
    const isUsage = error instanceof TlsFileError || error instanceof TracingError;
    throw new GatewayStartError(explain(error, config), { isUsage });
  }
}

function explain(error: unknown, { listen: { host, port } }: GatewayConfig): string {
  const code = (error as NodeJS.ErrnoException).code;
  const reason =
    code === "EADDRINUSE"
      ? `${host}:${String(port)} (KESC_HTTP_ADDRESS) is in use already`
      : error instanceof Error
        ? error.message
        : String(error);
  return `the gateway cannot start: ${reason}`;
}

function expiryOf(gateway: Gateway): { readonly tls_not_after?: string } {
  const notAfter = gateway.certificateNotAfter();
  return notAfter === undefined ? {} : { tls_not_after: new Date(notAfter).toISOString() };
}
