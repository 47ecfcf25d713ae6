import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { version } from "../../startup/version.js";
import type { Cell } from "../../storage/database.js";
import { ranMigrations } from "../../storage/migrate.js";
import { leave, noteRoot } from "../../storage/moves/book-moves.js";
import { columnsOfTables } from "../../storage/moves/columns.js";
import { readBook } from "../../storage/moves/read-book.js";
import type { MovedBook } from "../../storage/moves/tables.js";
import { sealReads } from "../../storage/seals/seal-store.js";
import { GrowingTree } from "../../verify/books/seals/tree.js";
import { timeOf } from "../commands/output.js";
import { type BookFileEnd, type BookFileHeader, BookFileWriter } from "./book-file.js";

const LEAF_BYTES = 32;
const LEAVES_AT_ONCE = 256;

export interface BookExport {
  readonly organizationId: OrganizationId;
  /** The name of the organization. */
  readonly name: string;
  readonly file: string;
  readonly sealPublicKeys: readonly string[];
  readonly now: () => UnixMillis;
}

export interface Exported {
  readonly header: BookFileHeader;
  readonly end: BookFileEnd;
}

/**
 * Stops the book of an organization, and writes all its rows into a new file. The last row of the
 * book is final before the first row is read. After an interruption the book is still MOVING, and
 * the export may be repeated.
 */
export async function exportBook(cell: Cell, given: BookExport): Promise<Exported> {
  const { organizationId, name, file, sealPublicKeys, now } = given;
  const columns = await columnsOfTables(cell);
  const book = await leave(cell, organizationId, now());
  const header: BookFileHeader = {
    kescVersion: version(),
    createdAt: timeOf(now()),
    moveId: book.move?.moveId ?? "",
    organizationId,
    name,
    masterKeyId: await masterKeyIdOf(cell, book),
    lastSeq: book.lastSeq,
    migrations: await ranMigrations(cell),
    columns: Object.fromEntries([...columns].map(([table, own]) => [table, Object.keys(own)])),
    sealPublicKeys,
  };
  const writer = new BookFileWriter(file, header);
  try {
    await readBook(cell, { book, columns }, (row) => {
      writer.row(row);
    });
    const root = await rootOf(cell, book);
    await noteRoot(cell, book, { root, now: now() });
    return { header, end: writer.end(root) };
  } finally {
    writer.remove();
  }
}

async function masterKeyIdOf({ engine, reader }: Cell, { number }: MovedBook): Promise<string> {
  const sql = `SELECT master_key_id AS id FROM ${engine.table("book_keys")} WHERE book = ?`;
  const [row] = await reader.rows<{ readonly id: string }>(sql, [number]);
  return row?.id ?? "";
}

/** Computes the root of the tree over all rows, with the leaves of the seals. */
async function rootOf(
  cell: Cell,
  { number, organizationId, lastSeq }: { number: number; organizationId: OrganizationId; lastSeq: number },
): Promise<string> {
  const tree = new GrowingTree();
  const reads = sealReads(cell);
  for (let firstSeq = 1; firstSeq <= lastSeq; firstSeq += LEAVES_AT_ONCE) {
    const range = { firstSeq, lastSeq: Math.min(lastSeq, firstSeq + LEAVES_AT_ONCE - 1) };
    const { hashes, missingSeq } = await reads.leaves({ number, organizationId }, range);
    if (missingSeq !== undefined) throw new Error(`the journal lacks the row ${String(missingSeq)}`);
    for (let at = 0; at < hashes.length; at += LEAF_BYTES) {
      tree.add(Buffer.from(hashes.subarray(at, at + LEAF_BYTES)));
    }
  }
  return tree.root();
}
