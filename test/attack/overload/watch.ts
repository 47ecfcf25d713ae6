import { setTimeout as sleep } from "node:timers/promises";

import { residentMebibytes } from "../../../bench/servers/process-stats.js";
import type { Program } from "../../../bench/servers/programs.js";

const PAUSE_MILLIS = 100;
/** A load balancer drops a server whose health check takes longer. */
const HEALTH_MILLIS_MAX = 5_000;
/** The second is 200 only while the server behind the gateway says SERVING, over gRPC. */
const PROBES = ["/livez", "/readyz"];

/** Health and memory of the programs during a load. */
export interface Seen {
  healthChecks: number;
  slowestHealthMillis: number;
  /** The failures of health checks, each once. */
  unhealthy: string[];
  /** The peaks of the server's memory in the first half of the time and in the second. */
  memoryMebibytes: [first: number, second: number];
}

/** Samples health and the server's memory until `during` settles. */
export async function watch<Result>(
  { server, gateway }: { server: Program; gateway: Program },
  during: Promise<Result>,
): Promise<{ result: Result; seen: Seen }> {
  const unhealthy = new Set<string>();
  const memory: number[] = [];
  const millis: number[] = [];
  const over = new AbortController();
  const sampling = (async () => {
    while (!over.signal.aborted) {
      memory.push(residentMebibytes(server.process.pid));
      const startedAt = performance.now();
      for (const problem of await Promise.all(PROBES.map((path) => problemOf(gateway, path)))) {
        if (problem !== undefined) unhealthy.add(problem);
      }
      millis.push(performance.now() - startedAt);
      await sleep(PAUSE_MILLIS);
    }
  })();
  const result = await during.finally(() => {
    over.abort();
  });
  await sampling;
  const middle = Math.ceil(memory.length / 2);
  const seen = {
    healthChecks: millis.length * PROBES.length,
    slowestHealthMillis: Math.max(...millis),
    unhealthy: [...unhealthy],
    memoryMebibytes: [Math.max(...memory.slice(0, middle)), Math.max(...memory.slice(middle - 1))] as [number, number],
  };
  return { result, seen };
}

async function problemOf({ address }: Program, path: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(HEALTH_MILLIS_MAX);
  const response = await fetch(`http://${address}${path}`, { signal }).catch((error: unknown) => String(error));
  if (typeof response === "string") return `${path}: ${response}`;
  await response.text();
  return response.status === 200 ? undefined : `${path}: ${String(response.status)}`;
}
