import fc from "fast-check";

/**
 * How often a property is tried: `byDefault` times, or FUZZ_RUNS, which `make fuzz` sets. A failure
 * prints the seed, and FUZZ_SEED repeats it.
 */
export function runs(byDefault: number): fc.Parameters<unknown> {
  const { FUZZ_RUNS: asked, FUZZ_SEED: seed } = process.env;
  return {
    numRuns: asked === undefined ? byDefault : Number(asked),
    // The small and the special stand among the values: no need to have them more often.
    plugins: [fc.unbiased()],
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}
