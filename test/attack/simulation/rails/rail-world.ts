import type { Command } from "../../../../src/domain/operations.js";
import type { RailAccountId } from "../../../../src/domain/payment.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import type { Random } from "../../random.js";
import { BOOKS_BEGIN } from "../disks/disk.js";
import type { MemoryDisk } from "../disks/memory-disk.js";
import type { Tally } from "../report/tally.js";
import type { Trace } from "../report/trace.js";
import { Violation } from "../report/violation.js";
import type { MemoryInbox } from "./memory-inbox.js";
import type { MemoryLeases } from "./memory-leases.js";
import type { MemoryPayments } from "./memory-payments.js";
import type { MemoryPayoutFiles } from "./memory-payout-files.js";

/** Offers a step that may happen next. A weight of 0 excludes it. */
export type May = (weight: number, run: () => void) => void;

/**
 * Commits commands of persons or of callers in one batch. Returns the refusal of the last one, or
 * else what was done.
 */
export type Commit = (...commands: readonly Command[]) => Promise<string>;

/** A suspended organization begins nothing. */
const BEGINS: ReadonlySet<string> = new Set(["mint", "redeem", "beginPayment", "collectBankFile"]);

/** The weights of the faults of one run; an ordinary step weighs 10. */
export interface RailFaults {
  readonly crash: number;
  readonly shutdown: number;
  /** The whole server stands still, and its monotonic clock with it. */
  readonly pause: number;
  /** The store is unavailable: the outcome of a commit that was on its way is unknown. */
  readonly unavailable: number;
  /** The share of queries that get no answer, and of status messages that are lost. */
  readonly lostQueries: number;
  /** The share of queries that the rail takes without a code. */
  readonly badQuestions: number;
  readonly clockJump: number;
}

export const NO_RAIL_FAULTS: RailFaults = {
  crash: 0,
  shutdown: 0,
  pause: 0,
  unavailable: 0,
  lostQueries: 0,
  badQuestions: 0,
  clockJump: 0,
};

interface TimedEvent {
  readonly at: number;
  readonly what: string;
  readonly run: () => void;
}

/** The state that all servers, the rail and the callers of one run share. */
export class RailWorld {
  readonly random: Random;
  readonly tally: Tally;
  readonly trace: Trace;
  readonly disk: MemoryDisk;
  readonly payments: MemoryPayments;
  readonly inbox: MemoryInbox;
  readonly payoutFiles: MemoryPayoutFiles;
  readonly leases: MemoryLeases;
  /** The organizations that an operator has suspended. */
  readonly suspended = new Set<OrganizationId>();
  faults: RailFaults = NO_RAIL_FAULTS;
  /** The time since the run began. */
  millis = 0;
  #events: TimedEvent[] = [];
  #violation: Violation | undefined;
  #ids = 0;

  constructor(
    given: Pick<RailWorld, "random" | "tally" | "trace" | "disk" | "payments" | "inbox" | "payoutFiles"> & {
      leasesBy: (now: () => number) => MemoryLeases;
    },
  ) {
    this.random = given.random;
    this.tally = given.tally;
    this.trace = given.trace;
    this.disk = given.disk;
    this.payments = given.payments;
    this.inbox = given.inbox;
    this.payoutFiles = given.payoutFiles;
    this.leases = given.leasesBy(() => this.millis);
  }

  /** The right time, which is that of the database. */
  get now(): UnixMillis {
    return toUnixMillis(BOOKS_BEGIN + this.millis);
  }

  /** What the network or the rail does by itself, whatever happens to servers. */
  get events(): readonly TimedEvent[] {
    return this.#events;
  }

  after(millis: number, what: string, run: () => void): void {
    this.#events.push({ at: this.millis + millis, what, run });
  }

  happen(event: TimedEvent): void {
    this.#events = this.#events.filter((other) => other !== event);
    event.run();
  }

  /** The revisions of accounts whose initiator the rail refuses. */
  readonly #refused = new Set<string>();
  /** When accounts were changed. */
  readonly #changedAt = new Map<RailAccountId, UnixMillis>();

  /** Somebody has set the account: whether the rail refuses its initiator. */
  changedRail(id: RailAccountId, isRefused: boolean): void {
    this.#changedAt.set(id, this.now);
    if (isRefused) this.#refused.add(`${id} ${String(this.disk.railRevision(id))}`);
  }

  refuses(id: RailAccountId, revision = this.disk.railRevision(id)): boolean {
    return this.#refused.has(`${id} ${String(revision)}`);
  }

  changedAt(id: RailAccountId): UnixMillis {
    return this.#changedAt.get(id) ?? toUnixMillis(BOOKS_BEGIN);
  }

  /** The shortcode that an account has in a revision; without one, as it is now. */
  shortcodeOf(id: RailAccountId, revision = this.disk.railRevision(id)): string {
    return this.disk.railSettings(id, revision) ?? "shortcode";
  }

  setSuspended(organizationId: OrganizationId, isSuspended: boolean): void {
    this.disk.setSuspended(organizationId, isSuspended);
    if (isSuspended) this.suspended.add(organizationId);
    else this.suspended.delete(organizationId);
    this.note("operator", () => `${isSuspended ? "suspends" : "resumes"} ${organizationId}`);
  }

  /** A command has had an effect. */
  watchEffect({ name }: Command, wasSuspended: boolean): void {
    if (wasSuspended && BEGINS.has(name)) this.violated(`what ${name} does in a suspension`, "nothing", "an effect");
  }

  /** A payout goes to its rail. By the journal a person must have released it, if it was held. */
  watchRelease(transactionId: TransactionId, when: string): void {
    const organizationId = this.disk.transactions.get(transactionId)?.organizationId;
    if (organizationId === undefined) return;
    const rows = this.disk.journalAfter(organizationId, 0).filter((row) => row.transactionId === transactionId);
    const last = rows.findLast(({ kind }) => kind === "transaction.held" || kind === "transaction.released");
    if (last?.kind === "transaction.held")
      this.violated(`the release of ${transactionId}, when ${when}`, "one", "none");
  }

  newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids)}`;
  }

  note(who: string, what: () => string): void {
    this.trace.note(this.millis, who, what);
  }

  /** Takes a violation that must not be thrown where it is seen: a settlement would catch it. */
  violated(what: string, expected: unknown, found: unknown): void {
    this.#violation ??= new Violation(what, expected, found);
  }

  throwViolation(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }
}
