import cluster from "node:cluster";

import { announceReady, Child, exitsOf } from "../runtime/child.js";
import { shutdownSignal } from "../runtime/shutdown.js";
import type { GatewayConfig } from "./config.js";

// A process gets this much time on top of the grace period for its requests.
const FORCE_MILLIS = 5_000;

/**
 * Runs the gateway as several processes that share its address and its limits. This process only
 * hands the connections to them, in turn. Ends all of them on the shutdown signal, or when one of
 * them exits by itself. Returns the exit code: 0 after a shutdown signal if all requests were
 * finished.
 */
export async function runProcesses(config: GatewayConfig): Promise<0 | 1> {
  const stopping = shutdownSignal();
  const variables = shareOf(config);
  const start = (): Child => new Child("gateway", cluster.fork(variables).process);
  const first = start();
  const processes = [first];
  // The first one starts alone: an error that keeps all of them from starting is printed once.
  const address = await Promise.race([first.ready, stopping.then(() => undefined)]);
  if (address !== undefined) {
    announceReady(address);
    while (processes.length < config.processes) processes.push(start());
  }

  const cause = await Promise.race([stopping, ...processes.map(({ exited }) => exited.then(() => undefined))]);
  for (const child of processes) child.stop();
  const exits = await exitsOf(processes, config.shutdownGraceSeconds * 1_000 + FORCE_MILLIS);
  return cause !== undefined && exits.every((exit) => exit === 0) ? 0 : 1;
}

/** The variables in which a process differs from this one. */
function shareOf({ connectionsMax, requestsMax, streamsMax, processes }: GatewayConfig): Record<string, string> {
  return {
    KESC_HTTP_CONNECTIONS_MAX: String(Math.ceil(connectionsMax / processes)),
    KESC_HTTP_REQUESTS_MAX: String(Math.ceil(requestsMax / processes)),
    KESC_HTTP_STREAMS_MAX: String(Math.ceil(streamsMax / processes)),
  };
}
