import type { AccountHolder, LedgerAccount } from "../domain/account.js";
import { type BookHead, postedToBook } from "../domain/book.js";
import type { Book, Effect, Put, TableName, Tables } from "../domain/decision.js";
import type { JournalEntry } from "../domain/journal.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../domain/values/text.js";
import { BatchTable, type BatchTableKeys } from "./batch-table.js";
import type { Changes, Loaded, NumberedEntry } from "./ports/store.js";

const KEYS: { readonly [Name in TableName]: BatchTableKeys<Tables[Name]> } = {
  accounts: { keyOf: ({ id }) => id },
  accountHolders: {
    keyOf: ({ accountId }) => accountId,
    nameOf: ({ organizationId, person, isOpen }) =>
      person === undefined || !isOpen ? undefined : within(organizationId, person.userId),
  },
  transactions: { keyOf: ({ id }) => id, nameOf: ({ organizationId, reference }) => within(organizationId, reference) },
  idempotencyKeys: { keyOf: ({ organizationId, key }) => within(organizationId, key) },
};

/**
 * The state that the commands of one batch see: the loaded rows with the effects of the batch's
 * earlier commands. It collects the changes that the store saves.
 */
export class BatchBook implements Book {
  readonly #tables: { readonly [Name in TableName]: BatchTable<Tables[Name]> };
  readonly #entries: NumberedEntry[] = [];
  readonly #books = new Map<OrganizationId, BookHead>();
  readonly #changedBooks = new Set<OrganizationId>();

  constructor(loaded: Loaded) {
    this.#tables = {
      accounts: new BatchTable(KEYS.accounts, loaded.accounts),
      accountHolders: new BatchTable(KEYS.accountHolders, loaded.accountHolders),
      transactions: new BatchTable(KEYS.transactions, loaded.transactions),
      idempotencyKeys: new BatchTable(KEYS.idempotencyKeys, loaded.idempotencyKeys),
    };
    for (const book of loaded.books) this.#books.set(book.organizationId, book);
  }

  /** Throws if the organization has no book. */
  bookOf(organizationId: OrganizationId): BookHead {
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
    return book;
  }

  account(organizationId: OrganizationId, id: AccountId): LedgerAccount | undefined {
    return ownedBy(organizationId, this.#tables.accounts.get(id));
  }

  accountHolder(organizationId: OrganizationId, id: AccountId): AccountHolder | undefined {
    return ownedBy(organizationId, this.#tables.accountHolders.get(id));
  }

  accountHolderOfUser(organizationId: OrganizationId, userId: UserId): AccountHolder | undefined {
    return this.#tables.accountHolders.getByName(within(organizationId, userId));
  }

  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined {
    return ownedBy(organizationId, this.#tables.transactions.get(id));
  }

  transactionWithReference(organizationId: OrganizationId, reference: Reference): Transaction | undefined {
    return this.#tables.transactions.getByName(within(organizationId, reference));
  }

  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): AccountId | TransactionId | undefined {
    return this.#tables.idempotencyKeys.get(within(organizationId, key))?.resourceId;
  }

  /** Makes the effect visible to the later commands of the batch, and adds it to the changes. */
  apply({ entries, puts }: Effect): void {
    const [first] = entries.map((entry) => this.#append(entry));
    for (const put of puts) this.#put(put, first);
  }

  /**
   * Returns everything to save: each changed row once, with its last values. Returns undefined if
   * nothing changed.
   */
  changes(): Changes | undefined {
    const { accounts, accountHolders, transactions, idempotencyKeys } = this.#tables;
    if (this.#entries.length === 0 && !idempotencyKeys.isChanged) return undefined;
    return {
      entries: this.#entries,
      tables: {
        accounts: accounts.changes(),
        accountHolders: accountHolders.changes(),
        transactions: transactions.changes(),
        idempotencyKeys: idempotencyKeys.changes(),
      },
      books: [...this.#changedBooks].map((organizationId) => this.bookOf(organizationId)),
    };
  }

  #put<Name extends TableName>({ table, row }: Put<Name>, createdBy: NumberedEntry | undefined): void {
    (this.#tables[table] as BatchTable<Tables[Name]>).put(row, createdBy);
  }

  /** Gives the entry the next number of its book, and posts it to the book's sums. */
  #append(entry: JournalEntry): NumberedEntry {
    const { organizationId, posting, recordedAt } = entry;
    const before = this.bookOf(organizationId);
    const seq = before.lastSeq + 1;
    const sums = posting === undefined ? before.sums : postedToBook(before.sums, posting);
    this.#books.set(organizationId, { ...before, lastSeq: seq, lastRecordedAt: recordedAt, sums });
    this.#changedBooks.add(organizationId);
    const numbered = { entry, seq };
    this.#entries.push(numbered);
    return numbered;
  }
}

// The id of an organization contains no line feed, so two different pairs never make the same text.
function within(organizationId: OrganizationId, name: string): string {
  return `${organizationId}\n${name}`;
}

function ownedBy<Row extends { organizationId: OrganizationId }>(
  organizationId: OrganizationId,
  row: Row | undefined,
): Row | undefined {
  return row?.organizationId === organizationId ? row : undefined;
}
