/**
 * How much this run proves: `test` each sentence in its cheapest form, `check` all of them on both
 * engines, `nightly` with seeds of chance.
 */
export type Stage = "test" | "check" | "nightly";

export const STAGE = readStage(process.env["KESC_TEST_STAGE"]);

/**
 * The seed of all values that tests draw by chance. It is the same in each run, so that a change
 * never fails by another's bad luck. SEED sets another: `make nightly` draws one.
 */
export const SEED = readSeed(process.env["SEED"]);

/** Returns the value of this run's stage. `make nightly` takes those of `make check`. */
export function byStage<Value>(values: { readonly test: Value; readonly check: Value }): Value {
  return values[STAGE === "test" ? "test" : "check"];
}

function readSeed(value = "1"): number {
  if (/^\d{1,10}$/.test(value)) return Number(value);
  throw new Error(`SEED is ${value}, and must be a whole number`);
}

function readStage(value = "test"): Stage {
  if (value === "test" || value === "check" || value === "nightly") return value;
  throw new Error(`KESC_TEST_STAGE is ${value}, and must be test, check or nightly`);
}
