import type { UnixMillis } from "../../../domain/values/time.js";
import type { Caller } from "../../calls/call-context.js";
import { ListTurns } from "../../calls/list-turns.js";
import { refuse, type RpcResult } from "../../calls/rpc-result.js";

// An organization rests for 50 ms after a change, as after a list that looked at so many rows. So
// it makes at most 20 changes a second.
const ROWS_PER_CHANGE = 2_500;

/**
 * Lets the changes of endpoints take turns. Each change is a transaction of its own, for which the
 * ledger's batches wait on SQLite. Without turns, 4,000 changes in flight left nothing to the mints
 * of others (docs/fairness.md).
 *
 * One change of a cell is under way at a time, and organizations take turns. The bounds for one
 * key, for one organization and for the deadline are those of lists.
 */
export class ChangeTurns {
  readonly #now: () => UnixMillis;
  readonly #ofCells = new Map<number, ListTurns>();

  constructor(now: () => UnixMillis) {
    this.#now = now;
  }

  /** Runs a change when its turn comes, or refuses it. Rejects with the error of `change`. */
  async run<Response>(
    caller: Pick<Caller, "who" | "organization" | "deadline">,
    change: () => Promise<RpcResult<Response>>,
  ): Promise<RpcResult<Response>> {
    const done = await this.#turnsOf(caller.organization.cell).page(caller, async () => ({
      result: await change(),
      rows: [],
      lookedAt: ROWS_PER_CHANGE,
    }));
    return "reason" in done ? refuse(done) : done.result;
  }

  #turnsOf(cell: number): ListTurns {
    let turns = this.#ofCells.get(cell);
    if (turns === undefined) {
      turns = new ListTurns({ now: this.#now, underWayMax: 1 });
      this.#ofCells.set(cell, turns);
    }
    return turns;
  }
}
