import { Between, type Scrape } from "./scrape.js";

/** What `kesc top` shows. Absent values are null: `--json` prints it as it is. */
export interface Reading {
  readonly at: string;
  readonly calls: {
    readonly per_second: number;
    readonly refused_per_second: Readonly<Record<string, number>>;
    readonly rpcs: readonly RpcReading[];
    readonly streams_open: number;
  };
  readonly commits: {
    readonly per_second: number;
    readonly commands_each: number | null;
    readonly p99_seconds: number | null;
    readonly failures_per_second: number;
  };
  readonly queue: { readonly length: number; readonly oldest_seconds: number; readonly lists_waiting: number };
  readonly process: {
    readonly cores: number;
    readonly resident_bytes: number;
    readonly loop_lag_p99_seconds: number;
  };
  /** Null if the server could not read the database lately. */
  readonly books: BooksReading | null;
}

export interface RpcReading {
  readonly method: string;
  readonly per_second: number;
  readonly not_ok_per_second: number;
  readonly p50_seconds: number | null;
  readonly p99_seconds: number | null;
}

export interface BooksReading {
  readonly organizations: number;
  readonly supply_cents: number;
  readonly shortfall_cents: number;
  readonly payments_open: number;
  readonly payments_oldest_seconds: number;
  readonly payouts_stopped: number;
  readonly webhook_events_behind: number;
  readonly webhook_events_undelivered: number;
  readonly webhook_failing_seconds: number;
  /** Null without a seal key. */
  readonly seals: { readonly rows_behind: number; readonly lag_seconds: number; readonly alarms: number } | null;
  /** How long the lease of each work lasts, in the cell where it ends first. */
  readonly lease_left_seconds: Readonly<Record<string, number>>;
}

const HANDLED = "grpc_server_handled_total";
const SECONDS = "grpc_server_handling_seconds";
const LEFT = "kesc_lease_left_seconds";

/** Reads what happened between two scrapes of a server. docs/metrics.md lists the metrics. */
export function readingOf(before: Scrape, after: Scrape): Reading {
  const between = new Between(before, after);
  const numbers = (name: string): number => after.sum(name) ?? 0;
  const rpcs = after
    .values(HANDLED, "grpc_method")
    .map((method) => rpcOf(between, method))
    .filter((rpc) => rpc.per_second > 0)
    .toSorted((a, b) => b.per_second - a.per_second);
  const refused = after
    .values("kesc_refusals_total", "reason")
    .map((reason) => [reason, between.perSecond("kesc_refusals_total", { reason })] as const)
    .filter(([, perSecond]) => perSecond > 0);
  return {
    at: new Date(after.atMillis).toISOString(),
    calls: {
      per_second: between.perSecond(HANDLED),
      refused_per_second: Object.fromEntries(refused),
      rpcs,
      streams_open: numbers("kesc_grpc_streams_open"),
    },
    commits: {
      per_second: between.perSecond("kesc_commit_seconds_count"),
      commands_each: between.mean("kesc_commit_batch_size") ?? null,
      p99_seconds: between.quantile("kesc_commit_seconds", 0.99) ?? null,
      failures_per_second: between.perSecond("kesc_commit_failures_total"),
    },
    queue: {
      length: numbers("kesc_queue_length"),
      oldest_seconds: after.max("kesc_queue_age_seconds") ?? 0,
      lists_waiting: numbers("kesc_lists_waiting"),
    },
    process: {
      cores: between.perSecond("process_cpu_seconds_total"),
      resident_bytes: numbers("process_resident_memory_bytes"),
      loop_lag_p99_seconds: numbers("nodejs_eventloop_lag_p99_seconds"),
    },
    books: booksOf(after),
  };
}

function rpcOf(between: Between, method: string): RpcReading {
  const labels = { grpc_method: method };
  const all = between.perSecond(HANDLED, labels);
  return {
    method,
    per_second: all,
    not_ok_per_second: all - between.perSecond(HANDLED, { ...labels, grpc_code: "OK" }),
    p50_seconds: between.quantile(SECONDS, 0.5, labels) ?? null,
    p99_seconds: between.quantile(SECONDS, 0.99, labels) ?? null,
  };
}

function booksOf(after: Scrape): BooksReading | null {
  if (after.sum("kesc_state_known") !== 1) return null;
  const numbers = (name: string): number => after.sum(name) ?? 0;
  const most = (name: string): number => after.max(name) ?? 0;
  const rowsBehind = after.sum("kesc_seal_rows_behind");
  return {
    organizations: numbers("kesc_books"),
    supply_cents: numbers("kesc_supply_cents"),
    shortfall_cents: numbers("kesc_shortfall_cents"),
    payments_open: numbers("kesc_payments_open"),
    payments_oldest_seconds: most("kesc_payments_oldest_seconds"),
    payouts_stopped: numbers("kesc_rail_payouts_stopped"),
    webhook_events_behind: numbers("kesc_webhook_events_behind"),
    webhook_events_undelivered: numbers("kesc_webhook_events_undelivered"),
    webhook_failing_seconds: most("kesc_webhook_failing_seconds"),
    seals:
      rowsBehind === undefined
        ? null
        : {
            rows_behind: rowsBehind,
            lag_seconds: most("kesc_seal_lag_seconds"),
            alarms: numbers("kesc_seal_alarms"),
          },
    lease_left_seconds: Object.fromEntries(
      after.values(LEFT, "lease").map((lease) => [lease, after.min(LEFT, { lease }) ?? 0]),
    ),
  };
}
