import type { Account } from "../domain/account.js";
import type { Book, Effect } from "../domain/decision.js";
import type { JournalEntry, Posting } from "../domain/journal.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Changes, Created, Loaded, SupplyChange, UsedIdempotencyKey } from "./ports/store.js";

/**
 * The state that the commands of one batch see: what was loaded, with the effects of the batch's
 * earlier commands on top. Collects what is to be saved.
 */
export class BatchBook implements Book {
  readonly #accounts = new Map<AccountId, Account>();
  readonly #accountsByUser = new Map<string, AccountId>();
  readonly #transactions = new Map<TransactionId, Transaction>();
  readonly #transactionsByReference = new Map<string, TransactionId>();
  readonly #resourcesByIdempotencyKey = new Map<string, AccountId | TransactionId>();

  readonly #entries: JournalEntry[] = [];
  readonly #createdAccounts = new Map<AccountId, number>();
  readonly #changedAccounts = new Set<AccountId>();
  readonly #changedBalances = new Set<AccountId>();
  readonly #createdTransactions = new Map<TransactionId, number>();
  readonly #changedTransactions = new Set<TransactionId>();
  readonly #usedIdempotencyKeys: Changes["idempotencyKeys"][number][] = [];
  readonly #supplyChanges = new Map<OrganizationId, SupplyChange>();

  constructor(loaded: Loaded) {
    for (const account of loaded.accounts) this.#putAccount(account);
    for (const transaction of loaded.transactions) this.#putTransaction(transaction);
    for (const used of loaded.idempotencyKeys) this.#putIdempotencyKey(used);
  }

  account(organizationId: OrganizationId, id: AccountId): Account | undefined {
    return ownedBy(organizationId, this.#accounts.get(id));
  }

  accountOfUser(organizationId: OrganizationId, userId: UserId): Account | undefined {
    const id = this.#accountsByUser.get(within(organizationId, userId));
    return id === undefined ? undefined : this.#accounts.get(id);
  }

  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined {
    return ownedBy(organizationId, this.#transactions.get(id));
  }

  transactionWithReference(organizationId: OrganizationId, reference: Reference): Transaction | undefined {
    const id = this.#transactionsByReference.get(within(organizationId, reference));
    return id === undefined ? undefined : this.#transactions.get(id);
  }

  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): AccountId | TransactionId | undefined {
    return this.#resourcesByIdempotencyKey.get(within(organizationId, key));
  }

  /** Makes the effect visible to the batch's later commands, and part of what is saved. */
  apply({ account, transaction, entry, idempotencyKey }: Effect): void {
    const entryIndex = this.#entries.push(entry) - 1;

    if (!this.#accounts.has(account.id)) this.#createdAccounts.set(account.id, entryIndex);
    else if (transaction === undefined) this.#changedAccounts.add(account.id);
    else this.#changedBalances.add(account.id);
    this.#putAccount(account);

    if (transaction !== undefined) {
      if (this.#transactions.has(transaction.id)) this.#changedTransactions.add(transaction.id);
      else this.#createdTransactions.set(transaction.id, entryIndex);
      this.#putTransaction(transaction);
    }

    if (idempotencyKey !== undefined) {
      this.remember(idempotencyKey, transaction ?? account, entry.recordedAt);
    }

    if (entry.posting !== undefined) this.#postToSupply(entry.organizationId, entry.posting);
  }

  /** Lets the key name the resource from now on. */
  remember(key: IdempotencyKey, resource: Account | Transaction, createdAt: UnixMillis): void {
    const used = { organizationId: resource.organizationId, key, resourceId: resource.id, createdAt };
    this.#usedIdempotencyKeys.push(used);
    this.#putIdempotencyKey(used);
  }

  /** What is to be saved: each row once, as it is now. Undefined when there is nothing. */
  changes(): Changes | undefined {
    if (this.#entries.length === 0 && this.#usedIdempotencyKeys.length === 0) return undefined;
    return {
      entries: this.#entries,
      createdAccounts: created(this.#createdAccounts, this.#accounts),
      changedAccounts: pick(this.#accounts, this.#changedAccounts, [this.#createdAccounts]),
      changedBalances: pick(this.#accounts, this.#changedBalances, [this.#createdAccounts, this.#changedAccounts]),
      createdTransactions: created(this.#createdTransactions, this.#transactions),
      changedTransactions: pick(this.#transactions, this.#changedTransactions, [this.#createdTransactions]),
      idempotencyKeys: this.#usedIdempotencyKeys,
      supplyChanges: [...this.#supplyChanges.values()],
    };
  }

  #putAccount(account: Account): void {
    this.#accounts.set(account.id, account);
    this.#accountsByUser.set(within(account.organizationId, account.userId), account.id);
  }

  #putTransaction(transaction: Transaction): void {
    this.#transactions.set(transaction.id, transaction);
    this.#transactionsByReference.set(within(transaction.organizationId, transaction.reference), transaction.id);
  }

  #putIdempotencyKey({ organizationId, key, resourceId }: UsedIdempotencyKey): void {
    this.#resourcesByIdempotencyKey.set(within(organizationId, key), resourceId);
  }

  #postToSupply(organizationId: OrganizationId, { debit, credit, amountCents }: Posting): void {
    const before = this.#supplyChanges.get(organizationId);
    const change = {
      organizationId,
      reserveCents: before?.reserveCents ?? 0n,
      availableCents: before?.availableCents ?? 0n,
      heldCents: before?.heldCents ?? 0n,
    };
    // The reserve is an asset: a debit adds to it. What is owed is a liability: a credit adds to
    // it.
    const amount = BigInt(amountCents);
    change[`${debit}Cents`] += debit === "reserve" ? amount : -amount;
    change[`${credit}Cents`] += credit === "reserve" ? -amount : amount;
    this.#supplyChanges.set(organizationId, change);
  }
}

// Organization ids have no line feed, so that no two pairs make the same text.
function within(organizationId: OrganizationId, name: string): string {
  return `${organizationId}\n${name}`;
}

function ownedBy<Row extends { organizationId: OrganizationId }>(
  organizationId: OrganizationId,
  row: Row | undefined,
): Row | undefined {
  return row?.organizationId === organizationId ? row : undefined;
}

function created<Id, Row>(entryIndexes: ReadonlyMap<Id, number>, rows: ReadonlyMap<Id, Row>): Created<Row>[] {
  return [...entryIndexes].map(([id, entryIndex]) => ({ row: rowOf(rows, id), entryIndex }));
}

/** The rows of `ids` that are in none of the others: those are written there. */
function pick<Id, Row>(
  rows: ReadonlyMap<Id, Row>,
  ids: ReadonlySet<Id>,
  others: readonly { has(id: Id): boolean }[],
): Row[] {
  return [...ids].filter((id) => !others.some((other) => other.has(id))).map((id) => rowOf(rows, id));
}

function rowOf<Id, Row>(rows: ReadonlyMap<Id, Row>, id: Id): Row {
  const row = rows.get(id);
  if (row === undefined) throw new Error(`the batch changed ${String(id)}, which it does not hold`);
  return row;
}
