import type { Random } from "../../random.js";
import type { Judge } from "../checks/judge.js";
import type { Tally } from "../report/tally.js";
import type { Trace } from "../report/trace.js";

/**
 * Takes one thing that may happen next, and how likely it is, compared with whatever else may
 * happen now: not at all with a weight of 0.
 */
export type May = (weight: number, run: () => void) => void;

/**
 * Whoever does something: a server, a caller. What drives transactions over a rail will be one
 * more: it offers its steps here, submits its commands to a server, and is part of every crash from
 * then on.
 */
export interface Actor {
  /** Offers what it may do now: nothing when it waits for others, or wants nothing. */
  offer(may: May): void;
}

/**
 * How likely the things are that go wrong; an ordinary step weighs 10. Every run has its own, and
 * many of them are 0.
 */
export interface Faults {
  readonly crash: number;
  readonly shutdown: number;
  /**
   * The store answers that it is not available: where a commit was on its way, its outcome is
   * unknown.
   */
  readonly unavailable: number;
  /** A lost race. */
  readonly conflict: number;
  /** The answer is lost on its way to the caller. */
  readonly lostAnswer: number;
  /**
   * The caller does not wait for the answer, and asks again while the first call is still there.
   */
  readonly impatience: number;
  /** The caller never asks again. */
  readonly abandonment: number;
  /** The share of calls that have a deadline, soon. */
  readonly deadlines: number;
}

export const NO_FAULTS: Faults = {
  crash: 0,
  shutdown: 0,
  unavailable: 0,
  conflict: 0,
  lostAnswer: 0,
  impatience: 0,
  abandonment: 0,
  deadlines: 0,
};

/** What all actors of one run share. */
export interface World {
  readonly random: Random;
  readonly trace: Trace;
  readonly tally: Tally;
  readonly judge: Judge;
  faults: Faults;
  /** The simulated clock. */
  millis: number;
}

/** One step of the run, for the trace. */
export function note(world: World, who: string, what: () => string): void {
  world.trace.note(world.millis, who, what);
}
