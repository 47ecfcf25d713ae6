import { type MessagePort, parentPort, workerData } from "node:worker_threads";

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

// One thread of a gateway (threads.ts). It exits with 0 if all requests were finished.
const { config, calls, hasProcess } = workerData as ThreadData;
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
