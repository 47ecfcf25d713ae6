import type { Account } from "./account.js";
import type { JournalEntry } from "./journal.js";
import type { Refusal } from "./refusal.js";
import type { Transaction } from "./transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "./values/text.js";

/**
 * What a decision may look at: the state before the command. Answers are the organization's own, or
 * undefined.
 */
export interface Book {
  account(organizationId: OrganizationId, id: AccountId): Account | undefined;
  accountOfUser(organizationId: OrganizationId, userId: UserId): Account | undefined;
  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined;
  transactionWithReference(organizationId: OrganizationId, reference: Reference): Transaction | undefined;
  /** What the call that first carried the key made. */
  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): AccountId | TransactionId | undefined;
}

/**
 * What a command writes: whole rows, as they are afterwards. All of it is saved in one commit, or
 * none.
 */
export interface Effect {
  readonly account: Account;
  readonly transaction: Transaction | undefined;
  readonly entry: JournalEntry;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export type Decision<Resource> =
  | { readonly kind: "effect"; readonly resource: Resource; readonly effect: Effect }
  /**
   * The same thing was done before: nothing is written, but for a new idempotency key, which now
   * names it too.
   */
  | { readonly kind: "replay"; readonly resource: Resource; readonly newIdempotencyKey: IdempotencyKey | undefined }
  | { readonly kind: "refusal"; readonly refusal: Refusal };

export function replay<Resource>(resource: Resource, newIdempotencyKey?: IdempotencyKey): Decision<Resource> {
  return { kind: "replay", resource, newIdempotencyKey };
}

export function refuse(refusal: Refusal): { kind: "refusal"; refusal: Refusal } {
  return { kind: "refusal", refusal };
}
