import { isDeepStrictEqual } from "node:util";

import type { Account } from "../../../../src/domain/account.js";
import type { BookHead, BookState } from "../../../../src/domain/book.js";
import type { Command, Resource } from "../../../../src/domain/operations.js";
import type { Refusal } from "../../../../src/domain/refusal.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../../src/domain/values/time.js";
import type { LedgerRefusal, Outcome } from "../../../../src/ledger/ports/outcome.js";
import { seenLimits } from "../../property/limits-model.js";
import { Model } from "../../property/model.js";
import { type Answer, seen, seenDeposit } from "../../property/rows.js";
import type { Books } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { mustBe, Violation } from "../report/violation.js";

// Written again on purpose: the check must not depend on the code under test.
const CLOCK_AHEAD_MILLIS_MAX = 2_000;

/** The clocks at a commit: that of the server, and that of the database, if it has one. */
export interface Clocks {
  readonly server: UnixMillis;
  readonly database: UnixMillis | undefined;
}

/** The state of one call, as the judge sees it. */
interface Watched {
  readonly deadline: UnixMillis;
  /** The committer has it, in a batch. */
  started: boolean;
  /** The store failed its last batch. */
  storeFailed: boolean;
  /** The answer that the model gave at the moment when its commit was on disk. */
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
 * Sees every commit at the moment when it is on disk, and does the same to the model. Callers must
 * hear what the model answers then, and may not hear it earlier.
 */
export class Judge {
  readonly #model = new Model();
  readonly #watched = new Map<Command, Watched>();
  #violation: Violation | undefined;

  /** Records a new book, whose first row has this time. */
  opened(organizationId: OrganizationId, at: UnixMillis): void {
    this.#model.open(organizationId, at);
  }

  /** Records that an operator has set the state of a book. */
  stateSet(organizationId: OrganizationId, state: BookState): void {
    this.#model.setState(organizationId, state);
  }

  /** Records that an operator has suspended or resumed an organization. */
  suspendedSet(organizationId: OrganizationId, isSuspended: boolean): void {
    this.#model.setSuspended(organizationId, isSuspended);
  }

  /**
   * Throws the first violation. A violation can't be thrown while the ledger runs: the ledger would
   * take it for a bug of its own.
   */
  throwViolation(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }

  sent(command: Command, deadline: UnixMillis): void {
    this.#watched.set(command, { deadline, started: false, storeFailed: false, due: undefined, committed: false });
  }

  /** Records that the committer has a batch. */
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

  /** Records that the commit of a batch is on disk. */
  committed(commands: readonly Command[], clocks: Clocks): void {
    if (isFast(clocks)) this.#violated(new Violation("a commit by a clock that is too fast", "none", clocks));
    for (const command of commands) {
      const call = this.#watch(command);
      if (call === undefined) continue;
      if (call.committed) this.#violated(new Violation(describeCommand(command), "committed once", "once more"));
      call.committed = true;
      if (!isBroken(command)) call.due = this.#model.submit(command, clocks.server);
    }
  }

  /** Records that the store failed a batch, perhaps after its commit. */
  storeFailed(commands: readonly Command[]): void {
    for (const command of commands) {
      const call = this.#watch(command);
      if (call !== undefined) call.storeFailed = true;
    }
  }

  /** Checks a refusal to commit because of the server's clock. */
  clockRefused(error: unknown, clocks: Clocks): void {
    if (!isFast(clocks)) this.#violated(new Violation("a failure of a store that has not failed", clocks, error));
  }

  /** Checks an answer of the ledger, which came after `now`. */
  answered(command: Command, outcome: Outcome<Resource>, now: UnixMillis): void {
    const call = this.#watch(command);
    const due = call === undefined ? undefined : dueTo(command, call, { outcome, now });
    if (due !== undefined) this.#violated(new Violation(answerTo(command), due, outcome));
  }

  /** Checks an error of the ledger, which is INTERNAL for the caller. */
  threw(command: Command, error: unknown): void {
    if (!isBroken(command)) this.#violated(new Violation(answerTo(command), "no error", error));
  }

  /** Records a rejection that no code handles. */
  unhandled(error: unknown): void {
    this.#violated(new Violation("a rejection that nobody hears of", "none", error));
  }

  /** Checks the end of a server; `unanswered` are the commands that it took and never answered. */
  closed(unanswered: readonly Command[]): void {
    const [command] = unanswered;
    if (command !== undefined) this.#violated(new Violation(answerTo(command), "one, before the server ends", "none"));
  }

  /** Checks that the durable state is the state of the model. */
  checkState(books: Books, organizations: readonly OrganizationId[]): void {
    for (const id of organizations) {
      const own = (rows: readonly (Account | Transaction)[]): ReturnType<typeof seen>[] =>
        rows
          .filter(({ organizationId }) => organizationId === id)
          .map(seen)
          .reverse();
      const { organizationId, limits, suspendedSeq, receiptsRequiredSeq, ...head } = headOf(books, id);
      mustBe("the row since which mints need a receipt", undefined, receiptsRequiredSeq);
      const book = { ...head, isSuspended: suspendedSeq !== undefined };
      const usages = books.accounts.filter((account) => account.organizationId === id);
      const seenNow = seenLimits(limits, usages, book.lastRecordedAt);
      const deposits = books.deposits.filter((deposit) => deposit.organizationId === id).map(seenDeposit);
      const rows = {
        accounts: own(books.accounts),
        transactions: own(books.transactions),
        deposits: deposits.reverse(),
      };
      const state = { ...rows, book, limits: seenNow };
      mustBe(`the state of ${id}`, this.#model.state(id), state);
      mustBe("whose book it is", id, organizationId);
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

function headOf({ heads }: Books, organizationId: OrganizationId): BookHead {
  const head = heads.get(organizationId);
  if (head === undefined) throw new Violation(`the book of ${organizationId}`, "one", "none");
  return head;
}

function isFast({ server, database }: Clocks): boolean {
  return database !== undefined && server - database > CLOCK_AHEAD_MILLIS_MAX;
}

function answerTo(command: Command): string {
  return `the answer to ${describeCommand(command)}`;
}

/** Returns the answer that was due instead; undefined when the answer is right. */
function dueTo(
  command: Command,
  call: Watched,
  { outcome, now }: { outcome: Outcome<Resource>; now: UnixMillis },
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
 * Whether the amount is one that no caller could send: the domain or the database must refuse it,
 * and harm no neighbour.
 */
function isBroken(command: Command): boolean {
  const amountCents = "amountCents" in command ? command.amountCents : undefined;
  return amountCents !== undefined && !(Number.isInteger(amountCents) && amountCents > 0);
}
