import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { expect } from "chai";
import { parse } from "yaml";

import { readingOf } from "../../src/cli/top/reading.js";
import { Scrape } from "../../src/cli/top/scrape.js";
import { readMetrics, type ServedMetric } from "../support/callers/served-metrics.js";
import { gatewayMetrics, jobMetrics, serverMetrics } from "../support/documents/metrics.js";

// The alerts and the dashboard name metrics and labels. All of them must be served. `make docs`
// writes docs/metrics.md from what is served.

const ALERTS = "deploy/prometheus/alerts.yml";
const DASHBOARD = "deploy/grafana/kesc.json";
/** Prometheus adds these to each series. */
const TARGET_LABELS = ["job", "instance"];

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
    const scrapes = [await serverMetrics(), await gatewayMetrics(), jobMetrics()];
    metrics = new Map(scrapes.flatMap((scrape) => [...readMetrics(scrape)]));
  });

  it("have what a job writes for node_exporter", () => {
    expect(jobMetrics())
      .to.include('\nkesc_job_last_run_timestamp_seconds{command="verify"} 7\n')
      .and.include("\nkesc_last_verify_findings 3\n");
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
    const sections = readFileSync("docs/runbook.md", "utf8")
      .split(/^## (?=Kesc)/m)
      .slice(1);
    const names = sections.map((section) => section.split("\n")[0]);
    expect(names).to.deep.equal(rules.map(({ alert }) => alert));
    for (const section of sections) {
      for (const part of ["**Means**", "**Look at**", "**Do**", "**Over**"]) expect(section).to.include(part);
    }
  });

  it("pass promtool, if Debian's package prometheus is here, and the gravest alerts fire when they should", async function () {
    if (spawnSync("promtool", ["--version"]).error !== undefined) this.skip();
    execFileSync("promtool", ["check", "rules", ALERTS], { stdio: "pipe" });
    for (const input of [await gatewayMetrics(), jobMetrics(), await serverMetrics()])
      execFileSync("promtool", ["check", "metrics"], { input, stdio: "pipe" });
    execFileSync("promtool", ["test", "rules", "deploy/prometheus/alerts.test.yml"], { stdio: "pipe" });
  });
});
