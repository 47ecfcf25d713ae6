import type { Account } from "./account.js";
import type { JournalEntry } from "./journal.js";
import type { Refusal } from "./refusal.js";
import type { Transaction } from "./transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/**
 * Names the keys of the rows that a decision may read. The ledger loads and locks these rows before
 * it decides.
 */
export interface Lookup {
  account(id: AccountId): void;
  accountOfUser(organizationId: OrganizationId, userId: UserId): void;
  /** Names the transaction's account, too. */
  transaction(id: TransactionId): void;
  transactionWithReference(organizationId: OrganizationId, reference: Reference): void;
  /** Names the resource that the key stands for, too. */
  idempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): void;
}

/**
 * The state before a command. A row of another organization is undefined, like one that does not
 * exist.
 */
export interface Book {
  account(organizationId: OrganizationId, id: AccountId): Account | undefined;
  accountOfUser(organizationId: OrganizationId, userId: UserId): Account | undefined;
  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined;
  transactionWithReference(organizationId: OrganizationId, reference: Reference): Transaction | undefined;
  /** The resource that the first call with this key created. */
  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): AccountId | TransactionId | undefined;
}

/** An idempotency key and the resource that it stands for. */
export interface UsedIdempotencyKey {
  readonly organizationId: OrganizationId;
  readonly key: IdempotencyKey;
  readonly resourceId: AccountId | TransactionId;
  readonly createdAt: UnixMillis;
}

/** The tables that commands write, beside the journal, and what a row of each is. */
export interface Tables {
  readonly accounts: Account;
  readonly transactions: Transaction;
  readonly idempotencyKeys: UsedIdempotencyKey;
}

export type TableName = keyof Tables;

/**
 * A whole row, as it is after the command: a new one, or one that replaces the row with its key.
 */
export type Put<Name extends TableName = TableName> = {
  readonly [Each in Name]: { readonly table: Each; readonly row: Tables[Each] };
}[Name];

/** What a command writes. All of it is saved in one commit, or nothing. */
export interface Effect {
  /** In the order of their `seq`. A row that `puts` creates has the `seq` of the first. */
  readonly entries: readonly JournalEntry[];
  readonly puts: readonly Put[];
}

export type Decision<Resource> =
  | { readonly kind: "effect"; readonly resource: Resource; readonly effect: Effect }
  /** The command was done before. It writes at most a new idempotency key for the same resource. */
  | { readonly kind: "replay"; readonly resource: Resource; readonly effect: Effect }
  | { readonly kind: "refusal"; readonly refusal: Refusal };

/**
 * One kind of command: the rows that it needs, and what it does to them. Both functions are pure.
 */
export interface Operation<Command, Resource> {
  readonly lookup: (command: Command, rows: Lookup) => void;
  readonly decide: (book: Book, command: Command, now: UnixMillis) => Decision<Resource>;
}

export function refuse(refusal: Refusal): { kind: "refusal"; refusal: Refusal } {
  return { kind: "refusal", refusal };
}

/**
 * Answers with the resource of the first call. `puts` holds the new idempotency key, if there is
 * one.
 */
export function replay<Resource>(resource: Resource, puts: readonly Put[] = []): Decision<Resource> {
  return { kind: "replay", resource, effect: { entries: [], puts } };
}

/** Makes the key stand for the resource from now on. Without a key there is nothing to put. */
export function putIdempotencyKey(
  key: IdempotencyKey | undefined,
  resource: Account | Transaction,
  createdAt: UnixMillis,
): readonly Put<"idempotencyKeys">[] {
  if (key === undefined) return [];
  const row = { organizationId: resource.organizationId, key, resourceId: resource.id, createdAt };
  return [{ table: "idempotencyKeys", row }];
}
