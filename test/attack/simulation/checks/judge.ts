import { isDeepStrictEqual } from "node:util";

import type { Account } from "../../../../src/domain/account.js";
import type { Command } from "../../../../src/domain/commands.js";
import type { Refusal } from "../../../../src/domain/refusal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../../src/domain/values/time.js";
import type { LedgerRefusal, Outcome } from "../../../../src/ledger/ports/outcome.js";
import { type Answer, Model, seen } from "../../property/model.js";
import type { Books } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { mustBe, Violation } from "../report/violation.js";

/** One call, as the judge has watched it. */
interface Watched {
  readonly deadline: UnixMillis;
  /** Was handed to the committer, in a batch. */
  started: boolean;
  /** Its last batch was answered with a failure of the store. */
  storeFailed: boolean;
  /** Its commit is on disk, and this is what it must be answered. */
  due: Answer | undefined;
  committed: boolean;
}

const TURNED_AWAY: ReadonlySet<string> = new Set([
  "QUEUE_FULL",
  "SHUTTING_DOWN",
  "DEADLINE_EXCEEDED",
  "STORAGE_UNAVAILABLE",
] satisfies LedgerRefusal["reason"][]);

/**
 * Sees every commit at the moment when it is on disk, and does the same to the model: what the
 * model answers then is what callers must hear, and nobody may hear it earlier.
 */
export class Judge {
  readonly #model = new Model();
  readonly #watched = new Map<Command, Watched>();
  #violation: Violation | undefined;

  /**
   * The first. What is found while the ledger runs can't be thrown there: the ledger would answer
   * it as a bug.
   */
  throwViolation(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }

  sent(command: Command, deadline: UnixMillis): void {
    this.#watched.set(command, { deadline, started: false, storeFailed: false, due: undefined, committed: false });
  }

  /** A batch is handed to the committer. */
  started(commands: readonly Command[], now: UnixMillis): void {
    for (const command of commands) {
      const call = this.#watch(command);
      if (call === undefined) continue;
      if (!call.started && call.deadline <= now) {
        this.#violated(new Violation(`${describeCommand(command)}, past its deadline`, "never started", "started"));
      }
      call.started = true;
      call.storeFailed = false;
    }
  }

  /** The batch's commit is on disk. */
  committed(commands: readonly Command[]): void {
    for (const command of commands) {
      const call = this.#watch(command);
      if (call === undefined) continue;
      if (call.committed) this.#violated(new Violation(describeCommand(command), "committed once", "once more"));
      call.committed = true;
      if (!isBroken(command)) call.due = this.#model.submit(command);
    }
  }

  /** The store has answered the batch with a failure, which may have come after the commit. */
  storeFailed(commands: readonly Command[]): void {
    for (const command of commands) {
      const call = this.#watch(command);
      if (call !== undefined) call.storeFailed = true;
    }
  }

  /** The ledger answers, after `now`. */
  answered(command: Command, outcome: Outcome<Account | Transaction>, now: UnixMillis): void {
    const call = this.#watch(command);
    const due = call === undefined ? undefined : dueTo(command, call, { outcome, now });
    if (due !== undefined) this.#violated(new Violation(answerTo(command), due, outcome));
  }

  /** The ledger threw: INTERNAL, for the caller. */
  threw(command: Command, error: unknown): void {
    if (!isBroken(command)) this.#violated(new Violation(answerTo(command), "no error", error));
  }

  /** A promise was rejected that nobody waited for. */
  unhandled(error: unknown): void {
    this.#violated(new Violation("a rejection that nobody hears of", "none", error));
  }

  /** A server has shut down; `unanswered` is what it took and never answered. */
  closed(unanswered: readonly Command[]): void {
    const [command] = unanswered;
    if (command !== undefined) this.#violated(new Violation(answerTo(command), "one, before the server ends", "none"));
  }

  /** What is durable is what the model has. */
  checkState(books: Books, organizations: readonly OrganizationId[]): void {
    for (const id of organizations) {
      const own = (rows: readonly (Account | Transaction)[]): ReturnType<typeof seen>[] =>
        rows
          .filter(({ organizationId }) => organizationId === id)
          .map(seen)
          .reverse();
      const state = {
        accounts: own(books.accounts),
        transactions: own(books.transactions),
        supply: books.supply.get(id),
      };
      mustBe(`the state of ${id}`, this.#model.state(id), state);
      const rows = books.journal.filter(({ organizationId }) => organizationId === id).length;
      mustBe(`the number of the journal's rows of ${id}`, this.#model.effects(id), rows);
    }
  }

  #watch(command: Command): Watched | undefined {
    const call = this.#watched.get(command);
    if (call === undefined) {
      this.#violated(new Violation("a command of a batch", "one that was sent", describeCommand(command)));
    }
    return call;
  }

  #violated(violation: Violation): void {
    this.#violation ??= violation;
  }
}

function answerTo(command: Command): string {
  return `the answer to ${describeCommand(command)}`;
}

/** What should have been answered instead; undefined when the answer is right. */
function dueTo(
  command: Command,
  call: Watched,
  { outcome, now }: { outcome: Outcome<Account | Transaction>; now: UnixMillis },
): unknown {
  if (outcome.kind === "refused" && isTurnedAway(outcome.refusal))
    return dueInsteadOf(outcome.refusal.reason, call, now);
  if (isBroken(command)) return outcome.kind === "done" ? "an error, or a refusal" : undefined;
  if (!call.committed) return "none before its commit is on disk";
  const found = outcome.kind === "done" ? { ...outcome, resource: seen(outcome.resource) } : outcome;
  return isDeepStrictEqual(found, call.due) ? undefined : call.due;
}

function dueInsteadOf(reason: LedgerRefusal["reason"], call: Watched, now: UnixMillis): unknown {
  if (reason === "STORAGE_UNAVAILABLE") return call.storeFailed ? undefined : (call.due ?? "no failure of the store");
  if (call.started) return call.due ?? "not this, once it was started";
  return reason === "DEADLINE_EXCEEDED" && call.deadline > now ? "not this, before the deadline" : undefined;
}

function isTurnedAway(refusal: Refusal | LedgerRefusal): refusal is LedgerRefusal {
  return TURNED_AWAY.has(refusal.reason);
}

/**
 * An amount that no caller could send: our own code, or the database, must refuse it, and harm no
 * neighbour.
 */
function isBroken(command: Command): boolean {
  return "amountCents" in command && !(Number.isInteger(command.amountCents) && command.amountCents > 0);
}
