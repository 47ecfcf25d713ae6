import { LRUCache } from "lru-cache";

import { Loop } from "../../runtime/loop.js";
import type { LoopTiming } from "../../runtime/wait.js";
import { postedToBook, turnedOver } from "../domain/book.js";
import { toCents } from "../domain/values/cents.js";
import { ACCOUNT_MARK_ROWS, type BookMark, type MarkedAccount, type MarkRow, type MarkStore } from "./mark-ports.js";

/** The rows of a book from one of its marks to the next. */
const BOOK_MARK_ROWS = 2_048;
/** The rows that one read takes: on SQLite a list of a caller waits as long. */
const READ_ROWS = 512;
/** How often to look for new rows, in milliseconds. */
const ROUND_MILLIS = 5_000;
/** The rest after each mark, as a multiple of the time that the mark took. */
const REST_SHARE = 1;
/** The accounts whose rows since their last mark are known. An unknown account costs a walk. */
const COUNTS_MAX = 100_000;

export interface MarkerOptions {
  readonly store: MarkStore;
  /** The right to work on this cell. */
  readonly lease: { leftMillis(): number };
  readonly timing: LoopTiming;
  readonly onError: (error: unknown) => void;
}

/**
 * Follows the books of a cell and writes their marks. Marks only make reads of the past short: a
 * read without them is right, too. Two markers of one cell write the same marks.
 */
export class Marker {
  readonly #options: MarkerOptions;
  /** The rows of each account since its last mark, up to the last mark of its book. */
  readonly #counts = new LRUCache<string, number>({ max: COUNTS_MAX });
  /** The last mark that this marker wrote to each book. */
  readonly #marked = new Map<number, number>();
  readonly #loop: Loop;

  constructor(options: MarkerOptions) {
    this.#options = options;
    const step = async (): Promise<number> => {
      await this.round().catch((error: unknown) => {
        this.#forget();
        options.onError(error);
      });
      return ROUND_MILLIS;
    };
    this.#loop = new Loop({ step, wait: options.timing.wait });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Marks all books up to their last whole window. */
  async round(): Promise<void> {
    let afterBook = 0;
    for (;;) {
      if (this.#loop.isStopped || this.#options.lease.leftMillis() <= 0) return;
      const last = await this.#options.store.next(afterBook, BOOK_MARK_ROWS);
      if (last === undefined) return;
      await this.#markBook(last);
      afterBook = last.book;
    }
  }

  /** Marks one book window by window, and leaves the database to others after each. */
  async #markBook(last: BookMark): Promise<void> {
    const { store, lease, timing } = this.#options;
    let next: BookMark | undefined = last;
    while (next !== undefined && !this.#loop.isStopped && lease.leftMillis() > 0) {
      const startedAt = timing.monotonicMillis();
      await this.#markWindow(next);
      await timing.wait((timing.monotonicMillis() - startedAt) * REST_SHARE, this.#loop.signal);
      const newest: BookMark | undefined = await store.next(last.book - 1, BOOK_MARK_ROWS);
      next = newest?.book === last.book ? newest : undefined;
    }
  }

  async #markWindow(last: BookMark): Promise<void> {
    const { book, seq: afterSeq } = last;
    const { store } = this.#options;
    // Another marker was here in between: the counts may be those of an earlier row.
    if ((this.#marked.get(book) ?? afterSeq) !== afterSeq) this.#forget();
    const endSeq = afterSeq + BOOK_MARK_ROWS;
    const marked: MarkedAccount[] = [];
    let next = last;
    for (let seq = afterSeq; seq < endSeq; seq += READ_ROWS) {
      const rows = await store.rows(book, { afterSeq: seq, upToSeq: seq + READ_ROWS });
      await this.#learn(book, rows);
      for (const row of rows) {
        next = posted(next, row);
        this.#count(row, marked);
      }
    }
    await store.save({ ...next, seq: endSeq }, marked);
    this.#marked.set(book, endSeq);
  }

  /** Reads the counts of the accounts that are not known. */
  async #learn(book: number, rows: readonly MarkRow[]): Promise<void> {
    const unknown = new Map<string, MarkedAccount>();
    for (const { account_id: accountId, previous_seq: seq } of rows) {
      if (accountId === null || this.#counts.has(accountId) || unknown.has(accountId)) continue;
      if (seq === null) this.#counts.set(accountId, 0);
      else unknown.set(accountId, { accountId, seq });
    }
    if (unknown.size === 0) return;
    const counts = await this.#options.store.countsBefore(book, [...unknown.values()]);
    for (const [accountId, count] of counts) this.#counts.set(accountId, count);
  }

  #count({ seq, account_id: accountId }: MarkRow, marked: MarkedAccount[]): void {
    if (accountId === null) return;
    const count = (this.#counts.get(accountId) ?? 0) + 1;
    const isMark = count >= ACCOUNT_MARK_ROWS;
    if (isMark) marked.push({ seq, accountId });
    this.#counts.set(accountId, isMark ? 0 : count);
  }

  #forget(): void {
    this.#counts.clear();
    this.#marked.clear();
  }
}

function posted(mark: BookMark, { debit, credit, amount_cents: amountCents }: MarkRow): BookMark {
  if (debit === null || credit === null || amountCents === null) return mark;
  const posting = { debit, credit, amountCents: toCents(amountCents) };
  return {
    ...mark,
    sums: postedToBook(mark.sums, posting),
    turnover: turnedOver(mark.turnover, posting, BigInt(amountCents)),
  };
}
