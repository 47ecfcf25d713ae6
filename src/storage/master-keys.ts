import type { OrganizationId } from "../domain/values/ids.js";
import { insertedTypesOf } from "../model/column.js";
import { OPERATOR_KEYS } from "../model/database.js";
import { BOOK_KEYS } from "../model/organizations.js";
import type { Cell, Database } from "./database.js";
import { type BookKeysRow, rewrapBookKeys } from "./secrets/book-keys.js";
import {
  addMasterKey,
  createMasterKeyFile,
  type MasterKey,
  MasterKeyError,
  readMasterKeys,
  removeMasterKeys,
} from "./secrets/master-key.js";
import { type OperatorKeyRow, rewrapOperatorKey } from "./secrets/operator-key.js";
import type { Session } from "./sql/engine.js";
import { bookKeysHexOf } from "./sql/organization-rows.js";

type EncryptedCells = Pick<Database, "cells">;

/**
 * Returns the ids of the master keys that the database needs and the master key file lacks. Throws
 * a MasterKeyError if the file is missing or malformed.
 */
export async function missingMasterKeys({ cells }: EncryptedCells): Promise<readonly string[]> {
  const [{ masterKeys }] = cells;
  return missingFrom(masterKeys(), await neededMasterKeys({ cells }));
}

/** Returns those of the ids that no key has. */
export function missingFrom(masterKeys: readonly MasterKey[], ids: Iterable<string>): readonly string[] {
  const present = new Set(masterKeys.map(({ id }) => id));
  return [...ids].filter((id) => !present.has(id));
}

/**
 * Creates the master key file if it is missing and the database needs no key. Returns whether it
 * created the file. Throws a MasterKeyError.
 */
export async function ensureMasterKeyFile({ cells }: EncryptedCells): Promise<boolean> {
  const [{ masterKeys, masterKeyFile }] = cells;
  try {
    masterKeys();
    return false;
  } catch (error) {
    const isMissing = error instanceof MasterKeyError && error.isMissing;
    if (!isMissing || (await neededMasterKeys({ cells })).size > 0) throw error;
    return createMasterKeyFile(masterKeyFile);
  }
}

/** Adds a random key as the first line of the master key file. Returns its id. */
export async function addFirstMasterKey({ cells: [cell] }: EncryptedCells): Promise<string> {
  return cell.transact(async (session) => {
    await lockMasterKeys(cell, session);
    return addMasterKey(cell.masterKeyFile)[0].id;
  });
}

/** The result of wrapBooks(). */
export interface WrappedBooks {
  /** The id of the first key of the file. */
  readonly masterKeyId: string;
  /** The number of books whose keys were encrypted anew. */
  readonly books: number;
}

/**
 * Encrypts the keys of all books, and those of the operators, with the first key of the master key
 * file. Running servers have decrypted the keys, or read the file again.
 *
 * An interruption leaves some books with an older key, whose line stays in the file. Calling the
 * function again completes it. Rejects with a MasterKeyError or a WrongMasterKeyError.
 */
export async function wrapBooks({ cells }: EncryptedCells): Promise<WrappedBooks> {
  const [{ id: masterKeyId }] = readMasterKeys(cells[0].masterKeyFile);
  let books = 0;
  for (const cell of cells) {
    books += await cell.transact(async (session) => {
      await lockMasterKeys(cell, session);
      await wrapOperatorKeyOf(cell, session);
      return wrapBooksOf(cell, session);
    });
  }
  return { masterKeyId, books };
}

/**
 * Returns the ids of the keys in the master key file that this database does not need. The first
 * key is never one of them, because the next book needs it.
 */
export async function unneededMasterKeys({ cells }: EncryptedCells, read?: ReadRows): Promise<readonly string[]> {
  const [, ...others] = readMasterKeys(cells[0].masterKeyFile);
  const needed = await neededMasterKeys({ cells }, read);
  return others.map(({ id }) => id).filter((id) => !needed.has(id));
}

/** Removes the unneeded keys from the master key file. Returns their ids. */
export async function pruneMasterKeys({ cells }: EncryptedCells): Promise<readonly string[]> {
  const [first] = cells;
  return first.transact(async (session) => {
    // The lock keeps new books out: one might need a key that is just being removed.
    await lockMasterKeys(first, session);
    // Reads in the same transaction: the pool may have no other connection.
    const unneeded = await unneededMasterKeys({ cells }, (sql) => session.read({ sql, bindings: [] }));
    if (unneeded.length > 0) removeMasterKeys(first.masterKeyFile, new Set(unneeded));
    return unneeded;
  });
}

/**
 * Waits until no other transaction changes the master key file or creates a book. Holds the lock
 * until the transaction ends.
 */
export async function lockMasterKeys({ engine }: Pick<Cell, "engine">, session: Session): Promise<void> {
  await session.read({ sql: engine.administrationLock, bindings: [] });
}

async function wrapBooksOf({ engine: { table, update }, masterKeyFile }: Cell, session: Session): Promise<number> {
  const masterKeys = readMasterKeys(masterKeyFile);
  const rows = await session.read<BookKeysRow & { readonly book: number; readonly organization_id: string }>({
    sql: `
      SELECT k.*, b.organization_id FROM ${table("book_keys")} k JOIN ${table("books")} b ON b.number = k.book
      WHERE k.master_key_id <> ?`,
    bindings: [masterKeys[0].id],
  });
  const rewrapped = rows.map((row) => ({
    book: row.book,
    ...bookKeysHexOf(rewrapBookKeys(masterKeys, row.organization_id as OrganizationId, row)),
  }));
  // Without rows, too: a role that may not change the table learns it before the file changes.
  const sql = update(table("book_keys"), { key: "book", columns: insertedTypesOf(BOOK_KEYS) });
  await session.write([{ sql, rows: rewrapped }]);
  return rows.length;
}

async function wrapOperatorKeyOf({ engine: { table, update }, masterKeyFile }: Cell, session: Session): Promise<void> {
  const masterKeys = readMasterKeys(masterKeyFile);
  const rows = await session.read<OperatorKeyRow & { readonly id: number }>({
    sql: `SELECT * FROM ${table("operator_keys")} WHERE master_key_id <> ?`,
    bindings: [masterKeys[0].id],
  });
  const rewrapped = rows.map((row) => {
    const { chain_key: wrapped, master_key_id } = rewrapOperatorKey(masterKeys, row);
    return { id: row.id, chain_key: wrapped.toString("hex"), master_key_id };
  });
  const sql = update(table("operator_keys"), { key: "id", columns: insertedTypesOf(OPERATOR_KEYS) });
  await session.write([{ sql, rows: rewrapped }]);
}

type ReadRows = (sql: string) => Promise<readonly unknown[]>;

/** Returns the ids of the master keys that the books and the operators of these cells need. */
export async function neededMasterKeys(
  { cells }: { readonly cells: readonly (Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> })[] },
  given?: ReadRows,
): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  for (const { reader, engine } of cells) {
    const read: ReadRows = given ?? ((sql) => reader.rows(sql));
    const rows = await read(
      `SELECT master_key_id AS id FROM ${engine.table("book_keys")}
       UNION SELECT master_key_id FROM ${engine.table("operator_keys")}`,
    );
    for (const { id } of rows as readonly { readonly id: string }[]) needed.add(id);
  }
  return needed;
}
