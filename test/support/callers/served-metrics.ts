import type { CellState } from "../../../src/metrics/ports.js";
import type { ServerMetrics } from "../../../src/metrics/server-metrics.js";

/** One metric of a scrape. */
export interface ServedMetric {
  readonly type: string;
  readonly labels: Set<string>;
  /** Each line, as name{labels} and its value. */
  readonly lines: Map<string, number>;
}

/** Reads the text of a scrape. A histogram has its lines under its own name. */
export function readMetrics(text: string): Map<string, ServedMetric> {
  const metrics = new Map<string, ServedMetric>();
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    metrics.set(name, { type, labels: new Set(), lines: new Map() });
  }
  for (const [, line = "", value] of text.matchAll(/^([a-z]\S*(?:\{.*\})?) (\S+)$/gm)) {
    const name = line.replace(/\{.*$/, "");
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ""));
    if (metric === undefined) throw new Error(`${line} has no type`);
    metric.lines.set(line, Number(value));
    for (const [, label = ""] of line.matchAll(/[{,]([a-z_]+)="/g)) metric.labels.add(label);
  }
  return metrics;
}

interface AdminPage {
  readonly status: number;
  readonly text: string;
  readonly type: string | null;
}

/** Gets a page of an admin port. */
export async function getAdmin(address: string, path = "/metrics", method = "GET"): Promise<AdminPage> {
  const response = await fetch(`http://${address}${path}`, { method });
  return { status: response.status, text: await response.text(), type: response.headers.get("content-type") };
}

/** Serves the metrics of a server with one cell, for which nothing waits but what the test says. */
export function serveCell(
  metrics: ServerMetrics,
  readState: () => Promise<CellState>,
  { queued = 0, seals = true } = {},
): ReturnType<ServerMetrics["serve"]> {
  const oldestAt = queued === 0 ? undefined : 1;
  return metrics.serve({
    listen: { host: "127.0.0.1", port: 0 },
    cells: [
      {
        number: 0,
        queue: () => ({ length: queued, oldestAt, overflow: queued }),
        payoutsStopped: () => ({ railAccounts: queued, unknownPayouts: queued }),
        unreadableRows: () => queued,
        readState,
      },
    ],
    seals,
    listsWaiting: () => queued,
    isServing: () => false,
    now: () => 2,
    onError: () => undefined,
  });
}
