import cluster from "node:cluster";
import { once } from "node:events";

import type { GatewayConfig } from "./config.js";
import { toldToStop } from "./told-to-stop.js";

// What a process needs beyond the grace period that it gives its requests.
const FORCE_MILLIS = 5_000;

/**
 * Runs the gateway as several processes, which share its address and its limits, until it is told
 * to stop or one of them ends by itself: then all of them end. This process only hands them the
 * connections, in turn. Answers the exit code: 0 when it was told to stop and all requests were
 * finished.
 */
export async function runProcesses(config: GatewayConfig): Promise<0 | 1> {
  const told = toldToStop();
  const variables = shareOf(config);
  const first = new GatewayProcess(variables);
  const processes = [first];
  // It goes ahead: what keeps them all from starting is said once.
  const message = await Promise.race([first.ready, first.exited.then(() => undefined), told.then(() => undefined)]);
  if (message !== undefined) {
    process.send?.(message);
    while (processes.length < config.processes) processes.push(new GatewayProcess(variables));
  }

  const cause = await Promise.race([told, ...processes.map(({ exited }) => exited.then(() => undefined))]);
  for (const { kill } of processes) kill("SIGTERM");
  const force = setTimeout(
    () => {
      for (const { kill } of processes) kill("SIGKILL");
    },
    config.shutdownGraceSeconds * 1_000 + FORCE_MILLIS,
  );
  const codes = await Promise.all(processes.map(({ exited }) => exited));
  clearTimeout(force);
  return cause !== undefined && codes.every((code) => code === 0) ? 0 : 1;
}

/** The variables in which a process differs from this one. */
function shareOf({ connectionsMax, requestsMax, processes }: GatewayConfig): Record<string, string> {
  return {
    KESC_HTTP_CONNECTIONS_MAX: String(Math.ceil(connectionsMax / processes)),
    KESC_HTTP_REQUESTS_MAX: String(Math.ceil(requestsMax / processes)),
  };
}

/** This same program once more, with these variables on top of ours. */
class GatewayProcess {
  /** Resolves with what it says when it listens. */
  readonly ready: Promise<object>;
  /** Resolves with its exit code, null when a signal ended it. */
  readonly exited: Promise<number | null>;
  readonly kill: (signal: NodeJS.Signals) => void;

  constructor(variables: Readonly<Record<string, string>>) {
    const worker = cluster.fork(variables);
    this.ready = once(worker, "message").then(([message]: unknown[]) => message as object);
    this.exited = once(worker, "exit").then(([code]: unknown[]) => code as number | null);
    this.kill = (signal) => worker.process.kill(signal);
  }
}
