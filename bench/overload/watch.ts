import { setTimeout as sleep } from "node:timers/promises";

import { Client, credentials } from "@grpc/grpc-js";
import { service as health } from "grpc-health-check";

import { residentMebibytes } from "../resident-memory.js";
import type { Program } from "../servers.js";

const PAUSE_MILLIS = 100;
/** A load balancer that hears nothing for so long looks elsewhere. */
const HEALTH_MILLIS_MAX = 5_000;

/** What was seen of the programs while something went on. */
export interface Seen {
  healthChecks: number;
  slowestHealthMillis: number;
  /** What was said when it was not that all is well, each once. */
  unhealthy: string[];
  /** The server's memory: the most in the first half of the time and in the second. */
  memoryMegabytes: [first: number, second: number];
}

/** Samples health, over gRPC and REST, and the server's memory until `during` has ended. */
export async function watch<Result>(
  { server, gateway }: { server: Program; gateway: Program },
  during: Promise<Result>,
): Promise<{ result: Result; seen: Seen }> {
  const client = new Client(server.address, credentials.createInsecure());
  const unhealthy = new Set<string>();
  const memory: number[] = [];
  let healthChecks = 0;
  let slowest = 0;
  const over = new AbortController();
  const ask = async (): Promise<void> => {
    const startedAt = performance.now();
    const asked = [grpcHealth(client), httpHealth(gateway, "/livez"), httpHealth(gateway, "/readyz")];
    for (const answer of await Promise.all(asked)) if (answer !== "well") unhealthy.add(answer);
    slowest = Math.max(slowest, performance.now() - startedAt);
    healthChecks += asked.length;
  };
  const sampling = (async () => {
    while (!over.signal.aborted) {
      memory.push(residentMebibytes(server.process.pid));
      await ask();
      await sleep(PAUSE_MILLIS);
    }
  })();
  const result = await during.finally(() => {
    over.abort();
  });
  await sampling;
  client.close();
  const middle = Math.ceil(memory.length / 2);
  const memoryMegabytes: Seen["memoryMegabytes"] = [
    Math.max(...memory.slice(0, middle)),
    Math.max(...memory.slice(middle - 1)),
  ];
  return {
    result,
    seen: { healthChecks, slowestHealthMillis: slowest, unhealthy: [...unhealthy], memoryMegabytes },
  };
}

function grpcHealth(client: Client): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = health["Check"] as {
    path: string;
    requestSerialize: (request: { service: string }) => Buffer;
    responseDeserialize: (bytes: Buffer) => { status: string };
  };
  const deadline = Date.now() + HEALTH_MILLIS_MAX;
  return new Promise((resolve) => {
    const request = { service: "" };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, { deadline }, (error, response) => {
      if (error !== null) resolve(`grpc.health.v1.Health: ${error.message}`);
      else resolve(response?.status === "SERVING" ? "well" : `grpc.health.v1.Health: ${response?.status ?? ""}`);
    });
  });
}

async function httpHealth({ address }: Program, path: string): Promise<string> {
  const signal = AbortSignal.timeout(HEALTH_MILLIS_MAX);
  const answer = await fetch(`http://${address}${path}`, { signal }).catch((error: unknown) => String(error));
  if (typeof answer === "string") return `${path}: ${answer}`;
  await answer.text();
  return answer.status === 200 ? "well" : `${path}: ${String(answer.status)}`;
}
