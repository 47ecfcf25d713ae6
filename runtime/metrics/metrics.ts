import client, { type Metric as ClientMetric, type MetricObjectWithValues, type MetricValue } from "prom-client";

import { Count, Family, Histogram, type Sample } from "./tally.js";

const { AggregatorRegistry, collectDefaultMetrics, Registry } = client;

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The name of a metric, and one sentence about it. */
export interface Named {
  readonly name: string;
  readonly help: string;
}

/**
 * Gauges of prom-client 15.1 with names of counters, for which `promtool check metrics` fails.
 * Each is the sum of a gauge that stays.
 */
const SUMS_OF_GAUGES = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`);

type ReadMetric = () => readonly Sample[] | Promise<readonly Sample[]>;

/**
 * The metrics of one thread. Code counts in plain numbers. prom-client reads them at a scrape and
 * writes the text: its own counters build a key of all labels at each count (docs/adr/0048).
 */
export class Metrics {
  readonly #registry = new Registry();

  /** Adds the metrics of the process: processor time, memory, garbage collection, event loop. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of SUMS_OF_GAUGES) this.#registry.removeSingleMetric(name);
  }

  counter(named: Named): Family<Count> {
    const family = new Family((labels) => new Count(labels));
    this.#add(named, "counter", () => family.samples());
    return family;
  }

  /** `bounds` are the upper bounds of the buckets, lowest first. */
  histogram(named: Named, bounds: readonly number[]): Family<Histogram> {
    const family = new Family((labels) => new Histogram(named.name, bounds, labels));
    this.#add(named, "histogram", () => family.samples());
    return family;
  }

  /** A value that is read at each scrape. */
  gauge(named: Named, read: ReadMetric): void {
    this.#add(named, "gauge", read);
  }

  /** The text of a scrape. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Returns what `textOfSums` takes. Threads can post it. */
  async json(): Promise<MetricsJson> {
    // prom-client would leave out or average some metrics of the process, which one thread has.
    return (await this.#registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: "sum" }));
  }

  #add({ name, help }: Named, type: "counter" | "gauge" | "histogram", read: ReadMetric): void {
    const get = async (): Promise<MetricObjectWithValues<MetricValue<string>>> => {
      const values = (await read()).map((sample) => ({ ...sample }));
      return { name, help, type, values, aggregator: "sum" } as unknown as MetricObjectWithValues<MetricValue<string>>;
    };
    // prom-client asks a metric for no more than its name and its values.
    this.#registry.registerMetric({ name, get } as unknown as ClientMetric);
  }
}

/** The metrics of one thread. */
export type MetricsJson = readonly object[];

/** Returns the text of a scrape: the sums over all threads. */
export function textOfSums(metrics: readonly MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate(metrics as unknown as object[]).metrics();
}
