import { afterThis, atEndOfTurn, Cohort } from "../../cohort.js";

/** What is done with calls, step by step, for all that are at that step together. */
export interface CallSteps {
  readonly begin: Cohort<() => void>;
  readonly answer: Cohort<() => void>;
  readonly log: Cohort<() => void>;
}

// What the committer is given at once: it can begin while the rest of a full turn is still being
// read.
const CALLS_TOGETHER = 32;

/** The steps of one server's calls; all its rpcs share them. */
export function callSteps(): CallSteps {
  const doAll = (tasks: readonly (() => void)[]): void => {
    for (const task of tasks) task();
  };
  return {
    begin: new Cohort({ schedule: atEndOfTurn, enough: CALLS_TOGETHER, doAll }),
    answer: new Cohort({ schedule: afterThis, doAll }),
    log: new Cohort({ schedule: afterThis, doAll }),
  };
}
