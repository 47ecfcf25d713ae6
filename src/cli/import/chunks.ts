import { ImportTransactionsRequest } from "../../gen/kesc/v1/transaction_service.js";
import type { GoodRow } from "./csv-rows.js";

/** The rows of one message, and its bytes. */
export interface Chunk {
  readonly rows: readonly GoodRow[];
  readonly bytes: Buffer;
}

const CHUNK_ROWS_MAX = 100;
// Well below the limit of the server, KESC_BULK_BYTES_MAX, which is 1 MiB by default.
const CHUNK_BYTES_MAX = 131_072;

/** Groups rows into chunks on demand. Rows to send again come first. */
export class Chunks {
  readonly #rows: AsyncIterator<GoodRow>;
  #again: GoodRow[] = [];

  constructor(rows: AsyncIterable<GoodRow>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  /** Returns undefined after the last chunk. */
  async next(): Promise<Chunk | undefined> {
    const rows: GoodRow[] = [];
    const messages: Uint8Array[] = [];
    let bytes = 0;
    while (rows.length < CHUNK_ROWS_MAX && bytes < CHUNK_BYTES_MAX) {
      const row = await this.#take();
      if (row === undefined) break;
      // In protobuf, concatenated messages merge: their repeated fields are joined. So the
      // concatenation is one message with all requests.
      const message = ImportTransactionsRequest.encode({ requests: [row.request] }).finish();
      rows.push(row);
      messages.push(message);
      bytes += message.length;
    }
    return rows.length === 0 ? undefined : { rows, bytes: Buffer.concat(messages) };
  }

  /**
   * Returns rows to the front, in their order. The caller must return every row that it took after
   * the first of them.
   */
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
