import { type AdminServer, startAdminServer } from "../../runtime/metrics/admin-server.js";
import { Metrics } from "../../runtime/metrics/metrics.js";
import type { HostAndPort } from "../../runtime/variables/forms.js";
import type { CheckAnswer } from "../domain/payout-check.js";
import type { Committer } from "../ledger/ports/committer.js";
import { CallCounts } from "./call-counts.js";
import type { ReadCellState } from "./ports.js";
import { addStateGauges } from "./state-gauges.js";

/** What a ledger says about its queue. */
export interface QueueState {
  readonly length: number;
  /** When the oldest command came that waits. Undefined if none does. */
  readonly oldestAt: number | undefined;
  /** The calls that found no room and wait for their refusal. */
  readonly overflow: number;
}

/** One running cell, as the gauges see it. */
export interface GaugedCell {
  readonly number: number;
  readonly queue: () => QueueState;
  /** What the breaker holds back, at the server that has the lease. */
  readonly payoutsStopped: () => { readonly railAccounts: number; readonly unknownPayouts: number };
  /** The rows of the rails' lists that nobody could read or has booked, at the same server. */
  readonly unreadableRows: () => number;
  readonly readState: ReadCellState;
}

interface MetricsServingOptions {
  readonly listen: HostAndPort;
  readonly cells: readonly GaugedCell[];
  /** Whether this server seals the books. */
  readonly seals: boolean;
  readonly listsWaiting: () => number;
  readonly isServing: () => boolean;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** The metrics of the server. Without KESC_ADMIN_ADDRESS there are none. */
export class ServerMetrics {
  readonly #metrics = new Metrics();
  readonly calls = new CallCounts(this.#metrics);
  readonly #checks = this.#metrics.counter({
    name: "kesc_payout_checks_total",
    help: "Checks of payouts that were decided, by the answer.",
  });
  readonly #meter = committerMeter(this.#metrics);

  /** Returns the committer with a clock around it. */
  metered(committer: Committer, cell: number): Committer {
    return this.#meter(committer, cell);
  }

  /** Returns a function that counts what came of the checks of payouts in a cell. */
  checkDecisions(cell: number): (answer: CheckAnswer) => void {
    const of = (answer: CheckAnswer) => this.#checks.of({ cell: String(cell), answer: answer.toLowerCase() });
    const counts = { ALLOW: of("ALLOW"), HOLD: of("HOLD"), DENY: of("DENY"), NO_ANSWER: of("NO_ANSWER") };
    return (answer) => {
      counts[answer].value += 1;
    };
  }

  /** Serves the metrics. Rejects if the address cannot be bound. */
  serve(options: MetricsServingOptions): Promise<AdminServer> {
    const metrics = this.#metrics;
    const { cells, listsWaiting, now } = options;
    metrics.addProcess();
    const gauge = (name: string, help: string, valueOf: (cell: GaugedCell) => number): void => {
      metrics.gauge({ name, help }, () =>
        cells.map((cell) => ({ labels: { cell: String(cell.number) }, value: valueOf(cell) })),
      );
    };
    gauge("kesc_queue_length", "Commands that wait for a commit.", ({ queue }) => queue().length);
    gauge("kesc_queue_age_seconds", "How long the oldest command has waited for a commit.", ({ queue }) => {
      const { oldestAt } = queue();
      return oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / 1_000;
    });
    gauge("kesc_queue_overflow", "Calls without room in the queue that wait for a refusal.", ({ queue }) => {
      return queue().overflow;
    });
    gauge(
      "kesc_rail_payouts_stopped",
      "Accounts at rails whose payouts the breaker has stopped, at the server that settles.",
      ({ payoutsStopped }) => payoutsStopped().railAccounts,
    );
    gauge(
      "kesc_rail_payouts_unknown",
      "Payouts of unknown outcome for which the breaker has stopped others, at the server that settles.",
      ({ payoutsStopped }) => payoutsStopped().unknownPayouts,
    );
    gauge(
      "kesc_deposit_rows_unreadable",
      "Rows of the lists of received payments that nobody could read or has booked, at the server that settles.",
      ({ unreadableRows }) => unreadableRows(),
    );
    metrics.gauge({ name: "kesc_lists_waiting", help: "Lists and exports that wait for their turn." }, () => [
      { labels: {}, value: listsWaiting() },
    ]);
    addStateGauges(metrics, {
      ...options,
      cells: cells.map(({ number, readState }) => ({ number, read: readState })),
    });
    return startAdminServer({ ...options, metrics: () => metrics.text() });
  }
}

const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_500, 10_000];

/** Returns a function that puts a clock around the commits of a committer. */
function committerMeter(metrics: Metrics): (committer: Committer, cell: number) => Committer {
  const seconds = metrics.histogram(
    { name: "kesc_commit_seconds", help: "Seconds of the commit of one batch." },
    COMMIT_SECONDS,
  );
  const sizes = metrics.histogram({ name: "kesc_commit_batch_size", help: "Commands in one commit." }, BATCH_SIZES);
  const failures = metrics.counter({ name: "kesc_commit_failures_total", help: "Batches that were not committed." });
  return (committer, number) => {
    const cell = { cell: String(number) };
    const [cellSeconds, cellSizes, cellFailures] = [seconds.of(cell), sizes.of(cell), failures.of(cell)];
    return {
      batchesMax: committer.batchesMax,
      batchUsual: committer.batchUsual,
      commit: async (commands, now) => {
        const startedAt = performance.now();
        try {
          const results = await committer.commit(commands, now);
          cellSizes.observe(commands.length);
          return results;
        } catch (error) {
          cellFailures.value += 1;
          throw error;
        } finally {
          cellSeconds.observe((performance.now() - startedAt) / 1_000);
        }
      },
    };
  };
}
