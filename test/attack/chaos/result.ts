import type { Audit } from "./audit.js";
import type { Account } from "./clients.js";

/** The result of one service whose parts were killed again and again. */
export interface Result {
  /** What was killed, each time. */
  readonly kills: readonly string[];
  /** Of each organization. */
  readonly clients: readonly Account[];
  /** Of each organization. */
  readonly audits: readonly Audit[];
  /** Of each book; none on SQLite. */
  readonly readers: readonly ReaderResult[];
  /** The last words of the servers that ended by themselves. */
  readonly died: readonly string[];
  /** The findings of `kesc verify`. */
  readonly wrongBooks: readonly string[];
  /** The times of a failover, from the end of the primary on. */
  readonly failover?: Failover;
}

/** What a reader of one book has seen. */
export interface ReaderResult {
  readonly polls: number;
  readonly rows: number;
  readonly violations: readonly string[];
}

export interface Failover {
  /** Whether the connections of the servers went silent, and were not closed. */
  readonly silent: boolean;
  readonly millisToPromotion: number;
  /** Until the first good reply to a call that began after the end of the primary. */
  readonly millisToGoodAnswer: number;
}

/** Lists the answers that no client may get, and the servers that ended by themselves. */
export function violationsIn({ clients, died }: Result): readonly string[] {
  return [...clients.flatMap(({ violations }) => violations), ...died];
}

/** Lists everything that went wrong. */
export function problemsIn(result: Result): readonly string[] {
  return [
    ...violationsIn(result),
    ...result.readers.flatMap(({ violations }) => violations),
    ...result.audits.flatMap(({ lost, doubled, wrong }) => [...lost, ...doubled, ...wrong]),
    ...result.wrongBooks,
  ];
}
