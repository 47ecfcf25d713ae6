import { Metrics, type MetricsJson } from "../../runtime/metrics/metrics.js";
import type { Count, Family, Histogram } from "../../runtime/metrics/tally.js";
import type { EndOfRequest, RequestMeter } from "../http/request-log.js";

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Methods are the caller's text. Every other one is counted as "other". */
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]);
/** The route of requests that match none. The path itself is the caller's text. */
const NO_ROUTE = "none";

interface Watched {
  readonly streams: () => number;
}

/** The metrics of one thread of the gateway. */
export class GatewayMetrics {
  readonly #metrics = new Metrics();
  readonly requests = new RequestCounts(this.#metrics);

  /** `hasProcess`: with those of the process, which one thread has. */
  constructor({ hasProcess = true } = {}) {
    if (hasProcess) this.#metrics.addProcess();
  }

  /** Adds the gauges. */
  watch({ streams }: Watched): void {
    this.#metrics.gauge({ name: "kesc_http_streams_open", help: "REST streams that are open now." }, () => [
      { labels: {}, value: streams() },
    ]);
  }

  json(): Promise<MetricsJson> {
    return this.#metrics.json();
  }
}

/** Counts requests by the template of their route, so the number of series is bounded. */
class RequestCounts implements RequestMeter {
  readonly #requests: Family<Count>;
  readonly #seconds: Family<Histogram>;
  readonly #refusals: Family<Count>;
  readonly #routes = new Map<string, RouteCounts>();
  #inFlight = 0;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter({
      name: "kesc_http_requests_total",
      help: "Requests that ended, by route and class of status. 4xx holds clients that disconnected.",
    });
    this.#seconds = metrics.histogram(
      { name: "kesc_http_request_seconds", help: "Seconds from the start of a request to the end of its response." },
      REQUEST_SECONDS,
    );
    this.#refusals = metrics.counter({
      name: "kesc_http_refusals_total",
      help: "Requests that got a problem, by code.",
    });
    metrics.gauge(
      { name: "kesc_http_requests_in_flight", help: "Requests that are open now, streams included." },
      () => [{ labels: {}, value: this.#inFlight }],
    );
  }

  began(): void {
    this.#inFlight += 1;
  }

  ended({ method = "", route, status, code, ms }: EndOfRequest): void {
    this.#inFlight -= 1;
    const counts = this.#countsOf(METHODS.has(method) ? method : "other", route ?? NO_ROUTE);
    counts.seconds.observe(ms / 1_000);
    const statusClass = Math.floor(status / 100);
    const count = (counts.classes[statusClass] ??= this.#requests.of({
      ...counts.labels,
      status: `${String(statusClass)}xx`,
    }));
    count.value += 1;
    if (code !== undefined && code !== "OK") this.#refusals.of({ code }).value += 1;
  }

  #countsOf(method: string, route: string): RouteCounts {
    const key = `${method} ${route}`;
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    const labels = { method, route };
    const made = { labels, seconds: this.#seconds.of(labels), classes: [] };
    this.#routes.set(key, made);
    return made;
  }
}

/** The series of one route, kept at hand. */
interface RouteCounts {
  readonly labels: { readonly method: string; readonly route: string };
  readonly seconds: Histogram;
  /** By the first digit of the status. */
  readonly classes: (Count | undefined)[];
}
