import type { OrganizationId } from "../domain/values/ids.js";
import type { Committer } from "../ledger/ports/committer.js";
import type { LedgerEvent } from "./event.js";
import { blocksOf } from "./message.js";
import { type BookSlice, type EventCodec, type EventReads, EVENTS_READ_MAX } from "./ports.js";
import { Tail } from "./tail.js";

export interface FollowerOptions {
  readonly reads: Pick<EventReads, "latest" | "slices">;
  readonly codec: EventCodec;
  readonly onError: (error: unknown) => void;
}

// Commits of this server are followed at once, those of other servers at the next poll.
const POLL_MILLIS = 50;
const IDLE_POLL_MILLIS = 250;
const LOOKS_UNTIL_IDLE = 10;
// A busy server commits every few milliseconds. One round then serves several commits, and each
// watcher gets one message for all of them. The gap grows with the number of books: with a
// thousand, most of the work of a mint would else be its message.
const ROUND_GAP_MILLIS = 50;
const ROUND_GAP_MILLIS_OF_BOOK = 0.2;
const ROUND_GAP_MILLIS_MAX = 250;
const RETRY_MILLIS = 1_000;

/** What one tail keeps at most, and all tails of a cell together. */
const TAIL_BYTES_MAX = 4 * 1_048_576;
const TAILS_BYTES_MAX = 64 * 1_048_576;

/**
 * Follows the books of one cell that somebody watches. It reads each new row once, however many
 * watch it, and the rows of many books in one statement. It does nothing while nobody watches.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #tails = new Map<OrganizationId, Tail>();
  /** The watched books with commits that were not read yet. */
  #woken = new Set<OrganizationId>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #isClosed = false;
  #polledAt = -Infinity;
  /** The beginning of the last round that found something. */
  #foundAt = -Infinity;
  /** The number of polls in a row that found nothing. */
  #idlePolls = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Returns the tail of a book. The caller must leave it again. */
  enter(organizationId: OrganizationId): Tail {
    let tail = this.#tails.get(organizationId);
    if (tail === undefined) {
      tail = new Tail();
      this.#tails.set(organizationId, tail);
    }
    tail.watchers += 1;
    this.#schedule();
    return tail;
  }

  leave(organizationId: OrganizationId): void {
    const tail = this.#tails.get(organizationId);
    if (tail === undefined) return;
    tail.watchers -= 1;
    if (tail.watchers === 0) this.#tails.delete(organizationId);
    if (this.#tails.size === 0) clearTimeout(this.#timer);
  }

  /** Tells that these organizations' commands are committed. */
  wake(commands: Iterable<{ readonly organizationId: OrganizationId }>): void {
    if (this.#tails.size === 0) return;
    const before = this.#woken.size;
    for (const { organizationId } of commands) if (this.#tails.has(organizationId)) this.#woken.add(organizationId);
    if (before === 0 && this.#woken.size > 0) this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isReading || this.#isClosed || this.#tails.size === 0) return;
    const pollAt = this.#polledAt + (this.#idlePolls < LOOKS_UNTIL_IDLE ? POLL_MILLIS : IDLE_POLL_MILLIS);
    const gap = Math.min(ROUND_GAP_MILLIS + ROUND_GAP_MILLIS_OF_BOOK * this.#tails.size, ROUND_GAP_MILLIS_MAX);
    const at = Math.max(this.#woken.size > 0 ? 0 : pollAt, this.#foundAt + gap);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#round(pollAt), Math.max(0, at - performance.now()));
  }

  async #round(pollAt: number): Promise<void> {
    const startedAt = performance.now();
    const isPoll = startedAt >= pollAt;
    const woken = this.#woken;
    this.#woken = new Set();
    this.#isReading = true;
    if (isPoll) this.#polledAt = startedAt;
    try {
      const found = await this.#read(isPoll ? [...this.#tails.keys()] : [...woken]);
      if (found.length > 0) this.#foundAt = startedAt;
      if (isPoll) this.#idlePolls = found.some((id) => !woken.has(id)) ? 0 : this.#idlePolls + 1;
    } catch (error) {
      this.#options.onError(error);
      // The streams stay open, and notice it when they look at their keys. The next look reads on
      // from where this one ended.
      this.#polledAt = startedAt + RETRY_MILLIS;
    } finally {
      this.#isReading = false;
      this.#schedule();
    }
  }

  /** Reads what is new in these books. Returns those that had something new. */
  async #read(organizationIds: readonly OrganizationId[]): Promise<readonly OrganizationId[]> {
    const begun = organizationIds.filter((id) => this.#tails.get(id)?.head !== undefined);
    if (begun.length === 0) return [];
    const latest = await this.#options.reads.latest(begun);
    const behind = (): OrganizationId[] =>
      begun.filter((id) => (this.#tails.get(id)?.head ?? Infinity) < (latest.get(id) ?? 0));
    const found = behind();
    for (let left = found; left.length > 0; left = behind()) {
      const slices = this.#slicesOf(left, latest);
      const events = await this.#options.reads.slices(slices);
      this.#append(slices, events);
    }
    return found;
  }

  /** Shares the rows of one read among the books. */
  #slicesOf(
    organizationIds: readonly OrganizationId[],
    latest: ReadonlyMap<OrganizationId, number>,
  ): readonly BookSlice[] {
    const books = organizationIds.slice(0, EVENTS_READ_MAX);
    const share = Math.floor(EVENTS_READ_MAX / books.length);
    return books.flatMap((organizationId) => {
      const after = this.#tails.get(organizationId)?.head;
      if (after === undefined) return [];
      return [{ organizationId, after, upTo: Math.min(after + share, latest.get(organizationId) ?? after) }];
    });
  }

  #append(slices: readonly BookSlice[], events: readonly LedgerEvent[]): void {
    const bytesMax = Math.min(TAIL_BYTES_MAX, TAILS_BYTES_MAX / this.#tails.size);
    const ofBook = groupByBook(events);
    for (const { organizationId, after, upTo } of slices) {
      const tail = this.#tails.get(organizationId);
      // The last watcher may have left meanwhile, and another one begun.
      if (tail?.head !== after) continue;
      const blocks = blocksOf(this.#options.codec, ofBook.get(organizationId) ?? [], { after, upTo });
      for (const block of blocks) tail.append(block, bytesMax);
    }
  }
}

function groupByBook(events: readonly LedgerEvent[]): Map<OrganizationId, LedgerEvent[]> {
  const groups = new Map<OrganizationId, LedgerEvent[]>();
  for (const event of events) {
    const group = groups.get(event.organizationId);
    if (group === undefined) groups.set(event.organizationId, [event]);
    else group.push(event);
  }
  return groups;
}

/** Tells the follower of each commit, so that watchers need not wait for its next look. */
export function wakingAfterCommit(committer: Committer, follower: Pick<Follower, "wake">): Committer {
  return {
    batchesMax: committer.batchesMax,
    batchUsual: committer.batchUsual,
    commit: async (commands, now) => {
      const results = await committer.commit(commands, now);
      follower.wake(commands);
      return results;
    },
  };
}
