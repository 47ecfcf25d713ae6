import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import type { Random } from "../../random.js";
import type { Judge } from "../checks/judge.js";
import { BOOKS_BEGIN } from "../disks/disk.js";
import type { Tally } from "../report/tally.js";
import type { Trace } from "../report/trace.js";

/**
 * Offers one step that may happen next. Its weight makes it likely compared with the other steps; a
 * weight of 0 excludes it.
 */
export type May = (weight: number, run: () => void) => void;

/**
 * A server, a caller, a reader or an operator. A driver of transactions over a rail will be one
 * more: it offers its steps here, submits commands to a server, and is part of every crash.
 */
export interface Actor {
  /** Offers its next steps: none when it waits for others, or wants nothing. */
  offer(may: May): void;
}

/**
 * The weights of the faults; an ordinary step weighs 10. Each run has its own, and many of them are
 * 0.
 */
export interface Faults {
  readonly crash: number;
  readonly shutdown: number;
  /** The store is unavailable: the outcome of a commit that was on its way is unknown. */
  readonly unavailable: number;
  /** A lost race. */
  readonly conflict: number;
  /** The answer is lost on its way to the caller. */
  readonly lostAnswer: number;
  /**
   * The caller does not wait for the answer, and repeats the call while the first is still running.
   */
  readonly impatience: number;
  /** The caller never repeats the call. */
  readonly abandonment: number;
  /** The share of calls with a short deadline. */
  readonly deadlines: number;
  /** The clock of a server jumps. */
  readonly clockJump: number;
  /** The share of clocks, at a start or after a jump, that are far wrong. */
  readonly wrongClocks: number;
  /** An operator begins to move a book to another cell. */
  readonly move: number;
  /** An operator suspends an organization. */
  readonly suspend: number;
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
  clockJump: 0,
  wrongClocks: 0,
  move: 0,
  suspend: 0,
};

/** The state that all actors of one run share. */
export interface World {
  readonly random: Random;
  readonly trace: Trace;
  readonly tally: Tally;
  readonly judge: Judge;
  faults: Faults;
  /** The time since the run began. */
  millis: number;
}

/** The right time, which is that of the database. The clocks of servers may differ. */
export function timeOf({ millis }: Pick<World, "millis">): UnixMillis {
  return toUnixMillis(BOOKS_BEGIN + millis);
}

/** Adds a step of the run to the trace. */
export function note(world: World, who: string, what: () => string): void {
  world.trace.note(world.millis, who, what);
}
