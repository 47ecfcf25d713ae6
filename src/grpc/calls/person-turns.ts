import { COMMAND_NAMES } from "../../domain/operations.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RpcContract } from "../messages/contract.js";
import type { Who } from "./call-context.js";
import { type ListCaller, type ListRefusal, ListTurns } from "./list-turns.js";
import { refuse, type RpcResult } from "./rpc-result.js";

/**
 * "change": a transaction beside the ledger's queue. "trial": a command that the ledger decides and
 * drops, or one of many parts.
 */
export type PersonTurn = "change" | "trial";

/** How many rows of a list cost the same rest: 50 ms after a change, 20 ms after a trial. */
const ROWS: Readonly<Record<PersonTurn, number>> = { change: 2_500, trial: 1_000 };
// A thousand parts take 200 ms of the thread that mints wait for. The person then rests 2 s.
const ROWS_OF_A_PART = 100;
// A trial waits with the calls of its organization, and a registration waits for a rail. Neither
// may hold up the changes of other people.
const UNDER_WAY_MAX = 16;
const NEVER = toUnixMillis(Number.MAX_SAFE_INTEGER);
const COMMANDS: ReadonlySet<string> = new Set(COMMAND_NAMES);

/**
 * Lets the changes and trials of a person run one after another, with a rest after each. A change
 * is a transaction of its own, for which the ledger's batches wait on SQLite (docs/fairness.md).
 * The bound for one person is that of lists.
 */
export class PersonTurns {
  readonly #turns: ListTurns;

  constructor(now: () => UnixMillis) {
    this.#turns = new ListTurns({ now, underWayMax: UNDER_WAY_MAX });
  }

  /** Refuses a person of whom too much waits, before a request of a thousand parts is parsed. */
  refusalOf(who: Who): Promise<ListRefusal | undefined> {
    return this.#turns.refusalOf({ who, organization: undefined });
  }

  /**
   * Runs the work when its turn comes, or refuses it. After a command of several parts the rest is
   * as long as they are many. Rejects with the error of `work`.
   */
  async run<Response>(
    turn: PersonTurn,
    { who, organization }: Omit<ListCaller, "deadline">,
    work: () => Promise<RpcResult<Response>>,
    parts = 1,
  ): Promise<RpcResult<Response>> {
    // Eight that wait take half a second: no deadline ends them.
    const done = await this.#turns.page({ who, organization, deadline: NEVER }, async () => ({
      result: await work(),
      rows: [],
      lookedAt: Math.max(ROWS[turn], parts * ROWS_OF_A_PART),
    }));
    return "reason" in done ? refuse(done) : done.result;
  }
}

/** Whether an rpc changes something beside the ledger's queue. An act in a book is a command. */
export function isChange({ idempotencyKey, localName }: Pick<RpcContract, "idempotencyKey" | "localName">): boolean {
  return idempotencyKey !== "ignored" && !COMMANDS.has(localName);
}

/** Whether a call waits for its turn with the request of the rpc, which may have many parts. */
export function mayWait(contract: RpcContract): boolean {
  return contract.streams === "none" && (isChange(contract) || contract.bulk);
}
