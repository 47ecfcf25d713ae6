import cluster from "node:cluster";

import type { Logger } from "pino";

import { announceReady, Child, exitsOf } from "../runtime/child.js";
import { flushLog } from "../runtime/log.js";
import type { AdminServer } from "../runtime/metrics/admin-server.js";
import { textOfWorkers } from "../runtime/metrics/metrics.js";
import { shutdownSignal } from "../runtime/shutdown.js";
import { startAdmin } from "./admin.js";
import type { GatewayConfig } from "./config.js";

// A process gets this much time on top of the grace period for its requests.
const FORCE_MILLIS = 5_000;

/**
 * Runs the gateway as several processes that share its address and its limits. This process only
 * hands the connections to them, in turn. Ends all of them on the shutdown signal, or when one of
 * them exits by itself. Returns the exit code: 0 after a shutdown signal if all requests were
 * finished. Serves the metrics of all of them, summed.
 */
export async function runProcesses(config: GatewayConfig, log: Logger): Promise<0 | 1> {
  const stopping = shutdownSignal();
  const processes: Child[] = [];
  let admin: AdminServer | undefined;
  try {
    admin = await startAdmin(config, { log, metrics: () => metricsOf(processes) });
  } catch (error) {
    process.stderr.write(`the gateway cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  const variables = shareOf(config);
  const start = (): Child => new Child("gateway", cluster.fork(variables).process);
  const first = start();
  processes.push(first);
  // The first one starts alone: an error that keeps all of them from starting is printed once.
  const address = await Promise.race([first.ready, stopping.then(() => undefined)]);
  if (address !== undefined) {
    if (admin !== undefined) log.info({ admin: admin.address }, "metrics");
    log.flush();
    announceReady(address);
    while (processes.length < config.processes) processes.push(start());
  }

  const cause = await Promise.race([stopping, ...processes.map(({ exited }) => exited.then(() => undefined))]);
  for (const child of processes) child.stop();
  const exits = await exitsOf(processes, config.shutdownGraceSeconds * 1_000 + FORCE_MILLIS);
  await admin?.close();
  await flushLog(log);
  return cause !== undefined && exits.every((exit) => exit === 0) ? 0 : 1;
}

/** A process that is just starting would not hear the question, so the sums wait for it. */
async function metricsOf(processes: readonly Child[]): Promise<string> {
  await Promise.all(processes.map(({ ready }) => ready));
  return textOfWorkers();
}

/** The variables in which a process differs from this one. */
function shareOf({ connectionsMax, requestsMax, streamsMax, processes }: GatewayConfig): Record<string, string> {
  return {
    KESC_HTTP_CONNECTIONS_MAX: String(Math.ceil(connectionsMax / processes)),
    KESC_HTTP_REQUESTS_MAX: String(Math.ceil(requestsMax / processes)),
    KESC_HTTP_STREAMS_MAX: String(Math.ceil(streamsMax / processes)),
  };
}
