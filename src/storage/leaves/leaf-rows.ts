import type { OrganizationId } from "../../domain/values/ids.js";
import { leafHashOf, type LeafRow } from "../../seals/leaf.js";
import type { Leaves } from "../../seals/ports.js";
import { type RowSalts, textSalts } from "../secrets/book-keys.js";
import type { BookDirectory, OpenBook } from "../sql/book-directory.js";
import type { Engine, Read } from "../sql/engine.js";

const SLICE_ROWS = 64;

/** Names rows of a book, at most 256. */
export interface LeafRange {
  readonly organizationId: OrganizationId;
  readonly book: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Returns the statement that reads the rows of leaves, in their order. */
export function leafRowsSql({ table, hex }: Engine): string {
  return `
    SELECT seq, previous_seq, account_id, transaction_id, freeze_id, kind, debit, credit, amount_cents,
      available_after_cents, held_after_cents, detail, rail_receipt, actor, reason, recorded_at,
      ${hex("content_hash")} AS content_hash
    FROM ${table("journal")} WHERE book = ? AND seq BETWEEN ? AND ? ORDER BY seq`;
}

/** Computes the hashes of leaves. Keeps the salts of the books that it has seen last. */
export class LeafHashes {
  readonly #directory: BookDirectory;
  readonly #sql: string;
  /** The salts of the last book: a sealer asks for many pages of the same one. */
  #salts: { readonly of: OpenBook; readonly salts: RowSalts } | undefined;

  constructor(engine: Engine, directory: BookDirectory) {
    this.#directory = directory;
    this.#sql = leafRowsSql(engine);
  }

  /** `pause` runs after each 64 rows. A row takes some 10 µs of the thread. */
  async leaves(
    { organizationId, book, firstSeq, lastSeq }: LeafRange,
    read: (read: Read) => Promise<readonly unknown[]>,
    pause?: () => Promise<unknown>,
  ): Promise<Leaves> {
    const salts = await this.saltsOf(organizationId, read);
    const rows = (await read({ sql: this.#sql, bindings: [book, firstSeq, lastSeq] })) as readonly LeafRow[];
    const hashes: Buffer[] = [];
    for (const row of rows) {
      if (row.seq !== firstSeq + hashes.length) break;
      hashes.push(leafHashOf(organizationId, row, salts.of(row.seq)));
      if (pause !== undefined && hashes.length % SLICE_ROWS === 0) await pause();
    }
    const nextSeq = firstSeq + hashes.length;
    return { hashes: Buffer.concat(hashes), missingSeq: nextSeq > lastSeq ? undefined : nextSeq };
  }

  /** Returns the salts of the texts of a book. */
  async saltsOf(organizationId: OrganizationId, read: (read: Read) => Promise<readonly unknown[]>): Promise<RowSalts> {
    const book = await this.#directory.book(organizationId, read);
    if (this.#salts?.of !== book) this.#salts = { of: book, salts: textSalts(book.keys) };
    return this.#salts.salts;
  }
}
