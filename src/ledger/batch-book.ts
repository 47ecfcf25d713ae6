import type { Account } from "../domain/account.js";
import type { Book, Effect, Put, TableName, Tables } from "../domain/decision.js";
import type { JournalEntry, Posting } from "../domain/journal.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../domain/values/text.js";
import { BatchTable, type BatchTableKeys } from "./batch-table.js";
import type { Changes, Loaded, SupplyChange } from "./ports/store.js";

const KEYS: { readonly [Name in TableName]: BatchTableKeys<Tables[Name]> } = {
  accounts: { keyOf: ({ id }) => id, nameOf: ({ organizationId, userId }) => within(organizationId, userId) },
  transactions: { keyOf: ({ id }) => id, nameOf: ({ organizationId, reference }) => within(organizationId, reference) },
  idempotencyKeys: { keyOf: ({ organizationId, key }) => within(organizationId, key) },
};

/**
 * The state that the commands of one batch see: the loaded rows with the effects of the batch's
 * earlier commands. It collects the changes that the store saves.
 */
export class BatchBook implements Book {
  readonly #tables: { readonly [Name in TableName]: BatchTable<Tables[Name]> };
  readonly #entries: JournalEntry[] = [];
  readonly #supplyChanges = new Map<OrganizationId, SupplyChange>();

  constructor(loaded: Loaded) {
    this.#tables = {
      accounts: new BatchTable(KEYS.accounts, loaded.accounts),
      transactions: new BatchTable(KEYS.transactions, loaded.transactions),
      idempotencyKeys: new BatchTable(KEYS.idempotencyKeys, loaded.idempotencyKeys),
    };
  }

  account(organizationId: OrganizationId, id: AccountId): Account | undefined {
    return ownedBy(organizationId, this.#tables.accounts.get(id));
  }

  accountOfUser(organizationId: OrganizationId, userId: UserId): Account | undefined {
    return this.#tables.accounts.getByName(within(organizationId, userId));
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
    const entryIndex = this.#entries.length;
    for (const entry of entries) {
      this.#entries.push(entry);
      if (entry.posting !== undefined) this.#postToSupply(entry.organizationId, entry.posting);
    }
    for (const put of puts) this.#put(put, entryIndex);
  }

  /**
   * Returns everything to save: each changed row once, with its last values. Returns undefined if
   * nothing changed.
   */
  changes(): Changes | undefined {
    const { accounts, transactions, idempotencyKeys } = this.#tables;
    if (this.#entries.length === 0 && !idempotencyKeys.isChanged) return undefined;
    return {
      entries: this.#entries,
      tables: {
        accounts: accounts.changes(),
        transactions: transactions.changes(),
        idempotencyKeys: idempotencyKeys.changes(),
      },
      supplyChanges: [...this.#supplyChanges.values()],
    };
  }

  #put<Name extends TableName>({ table, row }: Put<Name>, entryIndex: number): void {
    (this.#tables[table] as BatchTable<Tables[Name]>).put(row, entryIndex);
  }

  #postToSupply(organizationId: OrganizationId, { debit, credit, amountCents }: Posting): void {
    const before = this.#supplyChanges.get(organizationId);
    const change = {
      organizationId,
      reserveCents: before?.reserveCents ?? 0n,
      availableCents: before?.availableCents ?? 0n,
      heldCents: before?.heldCents ?? 0n,
    };
    // The reserve is an asset, so a debit adds to it. The other two are liabilities, so a credit
    // adds to them.
    const amount = BigInt(amountCents);
    change[`${debit}Cents`] += debit === "reserve" ? amount : -amount;
    change[`${credit}Cents`] += credit === "reserve" ? -amount : amount;
    this.#supplyChanges.set(organizationId, change);
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
