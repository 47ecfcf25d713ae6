import type { OrganizationId } from "../../domain/values/ids.js";
import { type BookKeys, WrongMasterKeyError } from "../secrets/book-keys.js";
import type { BookDirectory, OpenBook } from "../sql/book-directory.js";
import type { Read } from "../sql/engine.js";

/**
 * Returns the keys of these organizations' books, with which the `mac` of their rows is checked. An
 * organization whose keys cannot be decrypted has none here: it is a changed one, and the others go
 * on.
 */
export async function keysOfBooks(
  directory: Pick<BookDirectory, "find">,
  ids: readonly OrganizationId[],
  read: (read: Read) => Promise<readonly unknown[]>,
): Promise<ReadonlyMap<string, BookKeys>> {
  const books = await directory.find(ids, read).catch(async (error: unknown) => {
    if (!(error instanceof WrongMasterKeyError)) throw error;
    const found: OpenBook[] = [];
    for (const id of ids) found.push(...(await directory.find([id], read).catch(noneOf)));
    // Another master key is no change of one row.
    if (found.length === 0) throw error;
    return found;
  });
  return new Map(books.map(({ organizationId, keys }) => [organizationId, keys]));
}

function noneOf(error: unknown): readonly OpenBook[] {
  if (error instanceof WrongMasterKeyError) return [];
  throw error;
}
