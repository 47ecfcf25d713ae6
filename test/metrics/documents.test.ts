import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";
import { parse } from "yaml";

import { GatewayMetrics } from "../../gateway/metrics/gateway-metrics.js";
import { verifyMetrics, writeMetricsFile } from "../../src/cli/metrics-file.js";
import { readingOf } from "../../src/cli/top/reading.js";
import { Scrape } from "../../src/cli/top/scrape.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import type { CellState } from "../../src/metrics/ports.js";
import { ServerMetrics } from "../../src/metrics/server-metrics.js";
import { getAdmin, readMetrics, serveCell, type ServedMetric } from "../support/callers/served-metrics.js";
import { tableUnder } from "../support/documents/table.js";

// The documents, the alerts and the dashboard name metrics and labels. All of them must be served.

const ALERTS = "deploy/prometheus/alerts.yml";
const DASHBOARD = "deploy/grafana/kesc.json";
/** Prometheus adds these to each series. */
const TARGET_LABELS = ["job", "instance"];

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
  deposits: { waiting: 1, oldestAt: 1, listReadAt: 1 },
  webhooks: { endpoints: [{ status: "ACTIVE", count: 1 }], eventsBehind: 1, failingSince: 1, retries: [] },
  seals: { rowsBehind: 1, oldestUnsealedAt: 1, alarms: 1 },
  leases: [{ name: "seals", leftMillis: 1 }],
  actsWithoutPerson: 1,
};

/** All that a server can serve, each metric with at least one line. */
async function serverMetrics(): Promise<string> {
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

/** Everything that can be served, each metric with at least one line. */
async function allMetrics(): Promise<ReadonlyMap<string, ServedMetric>> {
  const gateway = new GatewayMetrics();
  gateway.watch({ streams: () => 1 });
  gateway.requests.began();
  gateway.requests.ended({ method: "GET", route: "/x", status: 400, code: "X", ms: 1 });
  return new Map([...readMetrics(await serverMetrics()), ...readMetrics(await gateway.text()), ...writtenMetrics()]);
}

/** What the commands write for node_exporter. */
function writtenMetrics(): Map<string, ServedMetric> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-metrics-"));
  try {
    const file = join(folder, "kesc.prom");
    writeMetricsFile(file, verifyMetrics(7_000, 3));
    const text = readFileSync(file, "utf8");
    expect(text).to.include('\nkesc_job_last_run_timestamp_seconds{command="verify"} 7\n');
    expect(text).to.include("\nkesc_last_verify_findings 3\n");
    return readMetrics(text);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isOurs(name: string): boolean {
  return !/^(?:process|nodejs)_/.test(name);
}

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}

function alertRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(ALERTS, "utf8")) as { groups: readonly { rules: readonly AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[] }[];
}

function dashboardTargets(): readonly { readonly expr: string; readonly legendFormat: string }[] {
  return (JSON.parse(readFileSync(DASHBOARD, "utf8")) as Dashboard).panels.flatMap(({ targets }) => targets);
}

/** What an expression names that is not served. */
function problemsOf(expression: string, metrics: ReadonlyMap<string, ServedMetric>): readonly string[] {
  const names = [...expression.matchAll(/\b(?:kesc|grpc|process|nodejs)_[a-z0-9_]+\b/g)]
    .map(([name]) => name)
    // A label may begin like a metric: grpc_code.
    .filter((name) => !/^grpc_(?:type|service|method|code)$/.test(name));
  const found = names.map((name) => metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, "")));
  const labels = new Set([...TARGET_LABELS, ...found.flatMap((metric) => [...(metric?.labels ?? [])])]);
  const matched = [...expression.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  return [
    ...names.filter((_, index) => found[index] === undefined),
    ...[...matched, ...grouped].filter((label) => !labels.has(label)).map((label) => `label ${label}`),
  ];
}

describe("the documents of the metrics", () => {
  let metrics: ReadonlyMap<string, ServedMetric>;
  before(async () => {
    metrics = await allMetrics();
  });

  it("list each metric with its type and its labels, and no other", () => {
    const documented = ["## The server", "## The gateway", "## Jobs"]
      .flatMap((heading) => tableUnder(heading, "docs/metrics.md"))
      .map(([name = "", type, labels = ""]) => [
        name.replaceAll("`", ""),
        type,
        labels === "" ? [] : labels.split(", ").sort(),
      ]);
    const served = [...metrics]
      .filter(([name]) => isOurs(name))
      .map(([name, { type, labels }]) => [name, type, [...labels].filter((label) => label !== "le").sort()]);
    expect(documented).to.have.deep.members(served);
  });

  it("name in kesc top only what a server serves", async () => {
    const absent = new Set<string>();
    class Watched extends Scrape {
      override sum(...asked: Parameters<Scrape["sum"]>): number | undefined {
        return this.#watched(asked[0], super.sum(...asked));
      }
      override max(...asked: Parameters<Scrape["max"]>): number | undefined {
        return this.#watched(asked[0], super.max(...asked));
      }
      #watched(name: string, value: number | undefined): number | undefined {
        if (value === undefined) absent.add(name);
        return value;
      }
    }
    const text = await serverMetrics();
    const { books, calls } = readingOf(new Scrape("", 0), new Watched(text, 1_000));
    expect(books?.seals?.rows_behind).to.equal(1);
    expect(calls.rpcs.length).to.be.greaterThan(30);
    expect([...absent]).to.deep.equal([]);
  });

  it("find what is not served", () => {
    expect(problemsOf('sum by (cell, cel) (kesc_queue_length{reason="x"}) > kesc_queue', metrics)).to.deep.equal([
      "kesc_queue",
      "label reason",
      "label cel",
    ]);
  });

  it("name in the alerts only what is served", () => {
    const expressions = alertRules().map(({ expr }) => expr);
    expect(expressions).to.have.length.greaterThan(15);
    expect(expressions.flatMap((expression) => problemsOf(expression, metrics))).to.deep.equal([]);
  });

  it("name in the dashboard only what is served", () => {
    const targets = dashboardTargets();
    expect(targets).to.have.length.greaterThan(20);
    expect(targets.flatMap(({ expr }) => problemsOf(expr, metrics))).to.deep.equal([]);
  });

  it("have a section of the runbook for each alert, which links to it", () => {
    const rules = alertRules();
    expect(rules.map(({ annotations }) => annotations.runbook)).to.deep.equal(
      rules.map(({ alert }) => `docs/runbook.md#${alert.toLowerCase()}`),
    );
    const [, ...sections] = readFileSync("docs/runbook.md", "utf8").split(/^## /m);
    expect(sections.map((section) => section.split("\n")[0])).to.have.members(rules.map(({ alert }) => alert));
    for (const section of sections) {
      expect(section).to.include("**What it means**").and.include("**What to look at**").and.include("**What to do**");
    }
  });

  it("pass promtool, if Debian's package prometheus is here, and the gravest alerts fire when they should", function () {
    if (spawnSync("promtool", ["--version"]).error !== undefined) this.skip();
    execFileSync("promtool", ["check", "rules", ALERTS], { stdio: "pipe" });
    execFileSync("promtool", ["test", "rules", "deploy/prometheus/alerts.test.yml"], { stdio: "pipe" });
  });
});
