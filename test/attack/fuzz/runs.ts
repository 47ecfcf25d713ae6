import fc from "fast-check";

/**
 * Tries a property `byDefault` times, or FUZZ_RUNS times, which `make fuzz` sets. A failure prints
 * its seed, and FUZZ_SEED repeats it.
 */
export function runs(byDefault: number): fc.Parameters<unknown> {
  const { FUZZ_RUNS: asked, FUZZ_SEED: seed } = process.env;
  return {
    numRuns: asked === undefined ? byDefault : Number(asked),
    // The generators have small and special values already: a bias would only repeat them.
    plugins: [fc.unbiased()],
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}
