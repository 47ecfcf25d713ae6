import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "@grpc/grpc-js";

import type { TransactionResult } from "../../gen/kesc/v1/transaction_service.js";
import { Problem } from "../../startup/operator-error.js";
import { type Chunk, Chunks } from "./chunks.js";
import type { GoodRow } from "./csv-rows.js";
import { describeRefusal, ImportStream, isPassing, mayBeDoneLater } from "./import-stream.js";

/** What became of the rows so far. */
export interface Totals {
  created: number;
  /** Were there already: from an earlier run, or from this one before its connection was lost. */
  replayed: number;
  refused: number;
}

export interface SendOptions {
  readonly client: Client;
  readonly key: string;
  /** Hears of each row that is refused for good. */
  readonly onRefused: (row: GoodRow, words: string) => void;
  /** Hears of the totals whenever they have grown. */
  readonly onProgress: (totals: Totals) => void;
}

// So many messages are on their way at a time: enough that the server always has work.
const CHUNKS_UNDER_WAY_MAX = 10;

// Without a single answer in between. Some twenty seconds.
const TRIES_MAX = 10;
const PAUSE_MILLIS_MIN = 100;
const PAUSE_MILLIS_MAX = 4_000;

/**
 * Sends every row and waits for its result, with at most 1,000 rows under way. What passes (a
 * server that is away, a full queue) is waited out: everything that has no final answer is sent
 * again, in order, which is safe, since references decide.
 *
 * Throws a Problem when it does not pass, or when the server refuses the whole.
 */
export async function sendRows(rows: AsyncIterable<GoodRow>, options: SendOptions): Promise<Totals> {
  const totals: Totals = { created: 0, replayed: 0, refused: 0 };
  const chunks = new Chunks(rows);
  for (let tries = 1; ; tries += 1) {
    const before = settledOf(totals);
    const interruption = await sendOverOneStream(chunks, totals, options);
    if (interruption === undefined) return totals;
    if (settledOf(totals) > before) tries = 1;
    if (tries === TRIES_MAX) {
      throw new Problem(
        `${interruption} Gave up after ${String(TRIES_MAX)} tries. Run this again: it goes on where it was, and does nothing twice.`,
      );
    }
    await sleep(Math.min(PAUSE_MILLIS_MIN * 2 ** tries, PAUSE_MILLIS_MAX));
  }
}

function settledOf({ created, replayed, refused }: Totals): number {
  return created + replayed + refused;
}

/**
 * Undefined when all is sent and answered; else why not. What has no final answer is back among the
 * chunks then.
 */
async function sendOverOneStream(chunks: Chunks, totals: Totals, options: SendOptions): Promise<string | undefined> {
  const stream = new ImportStream(options.client, options.key);
  const underWay: Chunk[] = [];
  /** The rows of the first chunk that are settled. */
  let settled = 0;
  const interrupted = (words: string): string => {
    chunks.putBack(underWay.flatMap((chunk) => chunk.rows).slice(settled));
    return words;
  };

  try {
    for (;;) {
      await fill(underWay, chunks, stream);
      const [oldest] = underWay;
      if (oldest === undefined) break;
      const { results } = await stream.next();
      for (const [index, row] of oldest.rows.entries()) {
        const waiting = settle(row, results[index], { totals, ...options });
        if (waiting !== undefined) return interrupted(waiting);
        settled = index + 1;
      }
      underWay.shift();
      settled = 0;
      options.onProgress(totals);
    }
    await stream.end();
    return undefined;
  } catch (error) {
    if (!isPassing(error)) throw refusalOf(error);
    return interrupted(sentence((error as Error).message));
  } finally {
    stream.cancel();
  }
}

async function fill(underWay: Chunk[], chunks: Chunks, stream: ImportStream): Promise<void> {
  while (underWay.length < CHUNKS_UNDER_WAY_MAX) {
    const chunk = await chunks.next();
    if (chunk === undefined) return;
    underWay.push(chunk);
    stream.send(chunk.bytes);
  }
}

/** Books the row's result. Answers why not, when it has none that is final. */
function settle(
  row: GoodRow,
  result: TransactionResult | undefined,
  { totals, onRefused }: Pick<SendOptions, "onRefused"> & { totals: Totals },
): string | undefined {
  if (result?.outcome === undefined) throw new Problem("The server's answer lacks a result: it is of another version.");
  const { outcome, replayed } = result;
  if (outcome.$case === "transaction") {
    totals[replayed ? "replayed" : "created"] += 1;
    return undefined;
  }
  const words = describeRefusal(outcome.value);
  // Rows after it may need what it does: all of them are sent again with it.
  if (mayBeDoneLater(outcome.value)) return words;
  totals.refused += 1;
  onRefused(row, words);
  return undefined;
}

function refusalOf(error: unknown): unknown {
  // A gRPC status has words for the caller; anything else is a bug here.
  if (!(error instanceof Error && "details" in error && typeof error.details === "string")) return error;
  return new Problem(`The server refused the import: ${sentence(error.details)}`, 1, { cause: error });
}

/** Adds the period that the errors of grpc-js lack, and those of the server have. */
function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}
