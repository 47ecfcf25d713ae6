import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "@grpc/grpc-js";

import type { TransactionResult } from "../../gen/kesc/v1/transaction_service.js";
import { OperatorError } from "../../startup/operator-error.js";
import { type Chunk, Chunks } from "./chunks.js";
import type { GoodRow } from "./csv-rows.js";
import { describeRefusal, ImportStream, isTemporary, mayBeDoneLater } from "./import-stream.js";

/** The results of the rows so far. */
export interface ImportTotals {
  created: number;
  /** Rows that were done before: by an earlier run, or by this run before it lost a connection. */
  replayed: number;
  refused: number;
}

export interface SendOptions {
  readonly client: Client;
  readonly key: string;
  /** Called for each row that is refused finally. */
  readonly onRefused: (row: GoodRow, words: string) => void;
  /** Called with the new totals after each chunk. */
  readonly onProgress: (totals: ImportTotals) => void;
}

// Maximum number of messages in flight. Ten messages of 100 rows keep the server busy.
const CHUNKS_IN_FLIGHT_MAX = 10;

// Maximum number of tries without any new result. They take some twenty seconds.
const TRIES_MAX = 10;
const PAUSE_MILLIS_MIN = 100;
const PAUSE_MILLIS_MAX = 4_000;

/**
 * Sends all rows and returns the totals. At most 1,000 rows are in flight.
 *
 * Retries after temporary errors, such as an unreachable server or a full queue. It then sends all
 * rows without a final result again, in order. That is safe because of their references.
 *
 * Throws an OperatorError if an error persists, or if the server refuses the import.
 */
export async function sendRows(rows: AsyncIterable<GoodRow>, options: SendOptions): Promise<ImportTotals> {
  const totals: ImportTotals = { created: 0, replayed: 0, refused: 0 };
  const chunks = new Chunks(rows);
  for (let tries = 1; ; tries += 1) {
    const before = settledOf(totals);
    const interruption = await sendOverOneStream(chunks, totals, options);
    if (interruption === undefined) return totals;
    if (settledOf(totals) > before) tries = 1;
    if (tries === TRIES_MAX) {
      throw new OperatorError(`${interruption} Gave up after ${String(TRIES_MAX)} tries.`);
    }
    await sleep(Math.min(PAUSE_MILLIS_MIN * 2 ** tries, PAUSE_MILLIS_MAX));
  }
}

export function settledOf({ created, replayed, refused }: ImportTotals): number {
  return created + replayed + refused;
}

/**
 * Returns undefined if all rows have a final result. Otherwise returns the reason, after it has put
 * the other rows back.
 */
async function sendOverOneStream(
  chunks: Chunks,
  totals: ImportTotals,
  options: SendOptions,
): Promise<string | undefined> {
  const stream = new ImportStream(options.client, options.key);
  const inFlight: Chunk[] = [];
  /** The number of settled rows in the oldest chunk. */
  let settled = 0;
  const interrupted = (words: string): string => {
    chunks.putBack(inFlight.flatMap((chunk) => chunk.rows).slice(settled));
    return words;
  };

  try {
    for (;;) {
      await fill(inFlight, chunks, stream);
      const [oldest] = inFlight;
      if (oldest === undefined) break;
      const { results } = await stream.next();
      for (const [index, row] of oldest.rows.entries()) {
        const waiting = settle(row, results[index], { totals, ...options });
        if (waiting !== undefined) return interrupted(waiting);
        settled = index + 1;
      }
      inFlight.shift();
      settled = 0;
      options.onProgress(totals);
    }
    await stream.end();
    return undefined;
  } catch (error) {
    if (!isTemporary(error)) throw refusalOf(error);
    return interrupted(sentence((error as Error).message));
  } finally {
    stream.cancel();
  }
}

async function fill(inFlight: Chunk[], chunks: Chunks, stream: ImportStream): Promise<void> {
  while (inFlight.length < CHUNKS_IN_FLIGHT_MAX) {
    const chunk = await chunks.next();
    if (chunk === undefined) return;
    inFlight.push(chunk);
    stream.send(chunk.bytes);
  }
}

/** Adds the result to the totals. Returns a reason to try again if the result is not final. */
function settle(
  row: GoodRow,
  result: TransactionResult | undefined,
  { totals, onRefused }: Pick<SendOptions, "onRefused"> & { totals: ImportTotals },
): string | undefined {
  if (result?.outcome === undefined)
    throw new OperatorError("The response of the server lacks a result. Use the kesc version of the server.");
  const { outcome, replayed } = result;
  if (outcome.$case === "transaction") {
    totals[replayed ? "replayed" : "created"] += 1;
    return undefined;
  }
  const words = describeRefusal(outcome.value);
  // Later rows may depend on this one. So all of them are sent again, too.
  if (mayBeDoneLater(outcome.value)) return words;
  totals.refused += 1;
  onRefused(row, words);
  return undefined;
}

function refusalOf(error: unknown): unknown {
  // A gRPC status has details for the caller. Any other error is a bug of this command.
  if (!(error instanceof Error && "details" in error && typeof error.details === "string")) return error;
  return new OperatorError(`The server refused the import: ${sentence(error.details)}`, { cause: error });
}

/** Adds the period that the errors of grpc-js lack, and those of the server have. */
function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}
