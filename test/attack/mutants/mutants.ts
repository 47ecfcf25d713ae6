import { OF_MONEY } from "./of-money.js";
import { OF_PAYOUTS } from "./of-payouts.js";
import { OUTGOING } from "./outgoing.js";
import { type Mutant, mutantsOf } from "./plant.js";

const OF_WHAT_GOES_OUT = mutantsOf(OUTGOING);

export const MUTANTS: readonly Mutant[] = [...mutantsOf(OF_MONEY), ...mutantsOf(OF_PAYOUTS), ...OF_WHAT_GOES_OUT];

/** Whether the bug is in what goes out. */
export function isOutgoing(mutant: Mutant): boolean {
  return OF_WHAT_GOES_OUT.includes(mutant);
}
