import { ImportTransactionsRequest } from "../../gen/kesc/v1/transaction_service.js";
import type { GoodRow } from "./csv-rows.js";

/** Some rows that go into one message, and the message. */
export interface Chunk {
  readonly rows: readonly GoodRow[];
  readonly bytes: Buffer;
}

const CHUNK_ROWS_MAX = 100;
// With room to spare below what a server takes.
const CHUNK_BYTES_MAX = 131_072;

/**
 * Cuts rows into chunks as they are asked for; rows that must be sent again come before the others.
 */
export class Chunks {
  readonly #rows: AsyncIterator<GoodRow>;
  #again: GoodRow[] = [];

  constructor(rows: AsyncIterable<GoodRow>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  /** Undefined when there are no more. */
  async next(): Promise<Chunk | undefined> {
    const rows: GoodRow[] = [];
    const messages: Uint8Array[] = [];
    let bytes = 0;
    while (rows.length < CHUNK_ROWS_MAX && bytes < CHUNK_BYTES_MAX) {
      const row = await this.#take();
      if (row === undefined) break;
      // Messages with one request each, one after the other, are a message with all of them: so
      // protobuf has it.
      const message = ImportTransactionsRequest.encode({ requests: [row.request] }).finish();
      rows.push(row);
      messages.push(message);
      bytes += message.length;
    }
    return rows.length === 0 ? undefined : { rows, bytes: Buffer.concat(messages) };
  }

  /** Gives rows back, in their order; all that were taken after them must be among them. */
  putBack(rows: readonly GoodRow[]): void {
    this.#again = [...rows, ...this.#again];
  }

  async #take(): Promise<GoodRow | undefined> {
    const again = this.#again.shift();
    if (again !== undefined) return again;
    const next = await this.#rows.next();
    return next.done === true ? undefined : next.value;
  }
}
