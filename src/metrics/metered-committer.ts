import type { Metrics } from "../../runtime/metrics/metrics.js";
import type { Committer } from "../ledger/ports/committer.js";

const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_500, 10_000];

/** Returns a function that puts a clock around the commits of a committer. */
export function committerMeter(metrics: Metrics): (committer: Committer, cell: number) => Committer {
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
