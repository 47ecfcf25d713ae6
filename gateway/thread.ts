import { getPriority, setPriority } from "node:os";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";

import { collectWhenQuiet } from "../runtime/heap.js";
import { openLog } from "../runtime/log.js";
import type { MetricsJson } from "../runtime/metrics/metrics.js";
import type { GatewayConfig } from "./config.js";
import { GatewayStartError, runGateway } from "./program.js";

/** What a thread is started with. */
export interface ThreadData {
  readonly config: GatewayConfig;
  readonly calls: MessagePort | undefined;
  readonly hasProcess: boolean;
}

/** What the thread is asked. */
export type ThreadQuestion = "stop" | "metrics";

export type ThreadAnswer =
  | { readonly kind: "ready"; readonly address: string }
  | { readonly kind: "failed"; readonly problem: string; readonly isUsage: boolean }
  | { readonly kind: "metrics"; readonly metrics: readonly MetricsJson[] };

// Beside the server's thread. With 0, gRPC callers beside 256 over REST kept 0.85 of the rate that
// they had beside a gateway in a process of its own (docs/adr/0073).
const NICENESS = 5;
const NICENESS_MAX = 19;

// One thread of a gateway (threads.ts). It exits with 0 if all requests were finished.
const { config, calls, hasProcess } = workerData as ThreadData;
if (calls !== undefined) giveWay();
collectWhenQuiet();
const answer = (message: ThreadAnswer): void => parentPort?.postMessage(message);
try {
  const gateway = await runGateway(config, { log: openLog(config.logLevel), calls, hasProcess });
  parentPort?.on("message", (question: ThreadQuestion) => {
    if (question === "stop") void gateway.stop().then((isClean) => process.exit(isClean ? 0 : 1));
    else
      void gateway.metrics().then((metrics) => {
        answer({ kind: "metrics", metrics });
      });
  });
  answer({ kind: "ready", address: gateway.address });
} catch (error) {
  if (!(error instanceof GatewayStartError)) throw error;
  answer({ kind: "failed", problem: error.message, isUsage: error.isUsage });
  process.exit(1);
}

/**
 * Lets the server's thread and its commits go first while all cores are busy. Only Linux has a
 * niceness for each thread: elsewhere it would be that of the process.
 */
function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(getPriority() + NICENESS, NICENESS_MAX));
  } catch {
    // The sandbox of a container refuses it. The thread works, with the priority of the others.
  }
}
