import cluster from "node:cluster";

import { announceReady } from "../runtime/child.js";
import { flushLog, openLog } from "../runtime/log.js";
import type { AdminServer } from "../runtime/metrics/admin-server.js";
import { exitAfter, shutdownSignal } from "../runtime/shutdown.js";
import { openTracing, type Tracing, TracingError } from "../runtime/tracing/tracing.js";
import { TlsFileError } from "../runtime/transport/tls.js";
import { WRONG_VARIABLE_EXIT_CODE } from "../runtime/variables.js";
import { startAdmin } from "./admin.js";
import { runProcesses } from "./cluster.js";
import { type GatewayConfig, readConfig } from "./config.js";
import { GatewayMetrics } from "./metrics/gateway-metrics.js";
import { type Gateway, startGateway } from "./server.js";

// The operating system may need this long after the grace period, before the process exits by
// force.
const EXIT_MILLIS_MAX = 2_000;

const result = readConfig(process.env);
if (!result.ok) {
  for (const problem of result.problems) process.stderr.write(`${problem}\n`);
  process.exitCode = WRONG_VARIABLE_EXIT_CODE;
} else if (cluster.isPrimary && result.config.processes > 1) {
  process.exit(await runProcesses(result.config, openLog(result.config.logLevel)));
} else {
  await run(result.config);
}

/** Runs the gateway until the shutdown signal. Exits with 0 if all requests were finished. */
async function run(config: GatewayConfig): Promise<void> {
  const stopping = shutdownSignal();
  // Without this, Node exits a worker at once when its parent ends, in the middle of its requests.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  const log = openLog(config.logLevel);

  const metrics = config.adminAddress === undefined ? undefined : new GatewayMetrics();
  let gateway: Gateway;
  let admin: AdminServer | undefined;
  let tracing: Tracing | undefined;
  try {
    tracing = await openTracing(process.env, "kesc-gateway", (problem) => {
      log.warn({ problem }, "spans were not exported");
    });
    gateway = await startGateway(config, log, { metrics, tracing });
    // The first process of the gateway asks each worker, and serves the sums.
    if (cluster.isWorker) metrics?.answerAsWorker();
    else if (metrics !== undefined) admin = await startAdmin(config, { log, metrics: () => metrics.text() });
  } catch (error) {
    process.stderr.write(`the gateway cannot start: ${explain(error, config)}\n`);
    process.exit(error instanceof TlsFileError || error instanceof TracingError ? WRONG_VARIABLE_EXIT_CODE : 1);
  }
  log.info({ address: gateway.address, admin: admin?.address, target: config.target, ...expiryOf(gateway) }, "ready");
  // An operator who waits for this line need not wait for the next flush.
  log.flush();
  announceReady(gateway.address);

  log.info({ cause: await stopping }, "stopping");
  exitAfter(config.shutdownGraceSeconds * 1_000 + EXIT_MILLIS_MAX, log);
  const isClean = await gateway.stop();
  await admin?.close();
  await tracing?.stop();
  log.info({ clean: isClean }, "stopped");
  await flushLog(log);
  process.exit(isClean ? 0 : 1);
}

function explain(error: unknown, config: GatewayConfig): string {
  const { host, port } = config.listen;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE") return `${host}:${String(port)} (KESC_HTTP_ADDRESS) is in use already`;
  return error instanceof Error ? error.message : String(error);
}

function expiryOf(gateway: Gateway): { readonly tls_not_after?: string } {
  const notAfter = gateway.certificateNotAfter();
  return notAfter === undefined ? {} : { tls_not_after: new Date(notAfter).toISOString() };
}
