import { LRUCache } from "lru-cache";

import type { OrganizationId } from "../../domain/values/ids.js";
import { balanceKeyOf } from "../secrets/balance-mac.js";
import { type BookKeys, type BookKeysRow, RowSalts, unwrapBookKeys } from "../secrets/book-keys.js";
import type { MasterKeySource } from "../secrets/master-key.js";
import type { Engine, Read } from "./engine.js";

/** The facts of a book that never change, with its decrypted keys. */
export interface OpenBook {
  readonly organizationId: OrganizationId;
  /** The key of the book in the tables of its database. */
  readonly number: number;
  readonly keys: BookKeys;
  readonly salts: RowSalts;
  /** The key of `accounts.mac` (`accountMac`). */
  readonly balanceKey: string;
}

type OpenBookRow = BookKeysRow & { readonly number: number; readonly organization_id: string };

/**
 * The entries of lists of payouts that were read, by the book and the hash of the list. Those under
 * a hash never change.
 */
export type KeptLists = LRUCache<string, ReadonlySet<string>>;

const BOOKS_MAX = 10_000;
// A list of 10,000 entries takes a megabyte.
const LISTS_MAX = 50;

/** Finds the books of organizations, and keeps them in memory. */
export class BookDirectory {
  readonly #masterKeys: MasterKeySource;
  readonly #sql: string;
  readonly #books = new LRUCache<OrganizationId, OpenBook>({ max: BOOKS_MAX });
  /** The entries of lists of payouts that were read. */
  readonly payoutLists: KeptLists = new LRUCache({ max: LISTS_MAX });

  constructor(engine: Engine, masterKeys: MasterKeySource) {
    this.#masterKeys = masterKeys;
    this.#sql = `
      SELECT b.number, b.organization_id, k.data_key, k.index_key, k.seal_secret, k.master_key_id
      FROM ${engine.table("books")} b JOIN ${engine.table("book_keys")} k ON k.book = b.number
      WHERE b.organization_id IN (SELECT value FROM ${engine.jsonItems("?")})`;
  }

  /** Returns the book if it is in memory. */
  get(organizationId: OrganizationId): OpenBook | undefined {
    return this.#books.get(organizationId);
  }

  /** Returns the book of an organization. Throws if there is none. Otherwise the same as `find`. */
  async book(organizationId: OrganizationId, read: (read: Read) => Promise<readonly unknown[]>): Promise<OpenBook> {
    const [book] = await this.find([organizationId], read);
    if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
    return book;
  }

  /**
   * Returns the books that exist. `read` runs only for books that are not in memory.
   *
   * Rejects with a WrongMasterKeyError if the master key file lacks the key of a book.
   */
  async find(
    organizationIds: readonly OrganizationId[],
    read: (read: Read) => Promise<readonly unknown[]>,
  ): Promise<readonly OpenBook[]> {
    const found: OpenBook[] = [];
    const missing: OrganizationId[] = [];
    for (const id of organizationIds) {
      const book = this.#books.get(id);
      if (book === undefined) missing.push(id);
      else found.push(book);
    }
    if (missing.length === 0) return found;
    const rows = (await read({ sql: this.#sql, bindings: [JSON.stringify(missing)] })) as readonly OpenBookRow[];
    for (const row of rows) {
      const organizationId = row.organization_id as OrganizationId;
      const keys = unwrapBookKeys(this.#masterKeys(row.master_key_id), organizationId, row);
      const book: OpenBook = {
        organizationId,
        number: row.number,
        keys,
        salts: new RowSalts(keys),
        balanceKey: balanceKeyOf(keys),
      };
      this.#books.set(organizationId, book);
      found.push(book);
    }
    return found;
  }
}
