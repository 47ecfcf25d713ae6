import { randomInt } from "node:crypto";

import fc from "fast-check";

import { byStage } from "../../support/stage.js";

/**
 * Tries a property `byDefault` times, or a quarter of that in `make test`, always with the same
 * inputs. FUZZ_RUNS, which `make fuzz` sets, asks for as many others. A failure prints its seed,
 * and SEED repeats it.
 */
export function runs(byDefault: number): fc.Parameters<unknown> {
  const { FUZZ_RUNS: asked, SEED: given } = process.env;
  return {
    numRuns: asked === undefined ? Math.ceil(byDefault / byStage({ test: 4, check: 1 })) : Number(asked),
    // The generators have small and special values already: a bias would only repeat them.
    plugins: [fc.unbiased()],
    ...(asked !== undefined && given === undefined ? { seed: randomInt(1, 2 ** 31) } : {}),
  };
}

/** The time that a property may take: without end for `make fuzz`. */
export const PROPERTY_MILLIS_MAX = process.env["FUZZ_RUNS"] === undefined ? 120_000 : 0;
