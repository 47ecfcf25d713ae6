import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { GatewayMetrics } from "../../../gateway/metrics/gateway-metrics.js";
import { textOfSums } from "../../../runtime/metrics/metrics.js";
import { verifyMetrics, writeMetricsFile } from "../../../src/cli/metrics-file.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import type { CellState } from "../../../src/metrics/ports.js";
import { ServerMetrics } from "../../../src/metrics/server-metrics.js";
import { getAdmin, readMetrics, serveCell } from "../callers/served-metrics.js";

/** A state in which each gauge has a line. */
const STATE: CellState = {
  books: 1,
  supplyCents: 1,
  reserveGapCents: 0,
  reserveCents: 1,
  shortfallCents: 1,
  chargesCents: 1,
  payments: [{ direction: "MINT", age: "UNDER_ONE_HOUR", count: 1, oldestAt: 1 }],
  railAccounts: [{ rail: "mpesa", payouts: "auto", count: 1 }],
  railWarnings: [{ code: "FLOAT_LOW", count: 1 }],
  heldPayouts: { waiting: 1, oldestAt: 1 },
  payoutChecks: { waiting: 1, oldestAt: 1 },
  deposits: { waiting: 1, oldestAt: 1, listReadAt: 1 },
  payouts: { partsWaiting: 1, oldestAt: 1 },
  webhooks: { endpoints: [{ status: "ACTIVE", count: 1 }], eventsBehind: 1, failingSince: 1, retries: [] },
  seals: { rowsBehind: 1, oldestUnsealedAt: 1, alarms: 1 },
  leases: [{ name: "seals", leftMillis: 1 }],
  actsWithoutPerson: 1,
};

/** All that a server can serve, each metric with at least one line. */
export async function serverMetrics(): Promise<string> {
  const server = new ServerMetrics();
  const end = { code: "OK", reason: "QUEUE_FULL", ms: 1, items: 2, items_refused: 1 };
  for (const rpc of readContract().services.flatMap(({ rpcs }) => rpcs)) server.calls.rpc(rpc).ended(end);
  const committer = { batchesMax: 1, batchUsual: 1, commit: () => Promise.resolve([]) };
  await server.metered(committer, 0).commit([], 0 as never);
  const admin = await serveCell(server, () => Promise.resolve(STATE), { queued: 1 });
  const served = (await getAdmin(admin.address)).text;
  await admin.close();
  return served;
}

/** All that a gateway can serve, each metric with at least one line. */
export async function gatewayMetrics(): Promise<string> {
  const gateway = new GatewayMetrics();
  gateway.watch({ streams: () => 1 });
  gateway.requests.began();
  gateway.requests.ended({ method: "GET", route: "/x", status: 400, code: "X", ms: 1 });
  return textOfSums([await gateway.json()]);
}

/** What `kesc verify` writes for node_exporter, at the seventh second and with three errors. */
export function jobMetrics(): string {
  const folder = mkdtempSync(join(tmpdir(), "kesc-metrics-"));
  try {
    const file = join(folder, "kesc.prom");
    writeMetricsFile(file, verifyMetrics(7_000, 3));
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** docs/metrics.md: each metric that can be served, with its type, its labels and its meaning. */
export async function metricsReference(): Promise<string> {
  return [
    `## The server\n\n${metricLines(await serverMetrics())}`,
    `## The gateway\n\n${metricLines(await gatewayMetrics())}`,
    `## Jobs\n\n${metricLines(jobMetrics())}`,
  ].join("\n\n");
}

function metricLines(scrape: string): string {
  const help = new Map(Array.from(scrape.matchAll(/^# HELP (\S+) (.*)$/gm), ([, name, text = ""]) => [name, text]));
  // Those of the process are prom-client's.
  const ours = [...readMetrics(scrape)].filter(([name]) => !/^(?:process|nodejs)_/.test(name));
  const lines = ours.map(([name, { type, labels }]) => {
    const named = [...labels].filter((label) => label !== "le").join(", ");
    const meaning = help.get(name)?.replace(/\.$/, "") ?? "";
    return `- \`${name}\` (${named === "" ? type : `${type}; ${named}`}): ${meaning}`;
  });
  return lines.join("\n");
}
