import type { Command } from "../domain/commands.js";
import type { Lookup } from "../domain/decision.js";
import { lookUp } from "../domain/operations/table.js";
import type { RailMovement, RailReceipt } from "../domain/payment.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../domain/values/text.js";
import type { BatchLookup } from "./ports/store.js";

/** Collects the keys of all rows that the decisions of a batch may read. */
export function lookupOf(commands: readonly Command[]): BatchLookup {
  const rows = new BatchRows();
  for (const command of commands) {
    rows.organizationIds.add(command.organizationId);
    lookUp(command, rows);
  }
  return {
    organizationIds: [...rows.organizationIds],
    accountIds: [...rows.accountIds],
    holderIds: [...rows.holderIds],
    fullAccountIds: [...rows.fullAccountIds],
    users: rows.users,
    freezeIds: [...rows.freezeIds],
    transactionIds: [...rows.transactionIds],
    references: rows.references,
    idempotencyKeys: rows.idempotencyKeys,
    idempotencyKeysOfAccounts: rows.idempotencyKeysOfAccounts,
    idempotencyKeysOfFreezes: rows.idempotencyKeysOfFreezes,
    paymentIds: [...rows.paymentIds],
    railRevisionIds: [...rows.railRevisionIds],
    orderIds: [...rows.orderIds],
    referencesOfPayments: rows.referencesOfPayments,
    idempotencyKeysOfPayments: rows.idempotencyKeysOfPayments,
    receipts: rows.receipts,
    movements: rows.movements,
    subjects: [...rows.subjects],
  };
}

class BatchRows implements Lookup {
  readonly organizationIds = new Set<OrganizationId>();
  readonly accountIds = new Set<AccountId>();
  readonly holderIds = new Set<AccountId>();
  readonly fullAccountIds = new Set<AccountId>();
  readonly freezeIds = new Set<FreezeId>();
  readonly users: BatchLookup["users"][number][] = [];
  readonly transactionIds = new Set<TransactionId>();
  readonly references: BatchLookup["references"][number][] = [];
  readonly idempotencyKeys: BatchLookup["idempotencyKeys"][number][] = [];
  readonly idempotencyKeysOfAccounts: BatchLookup["idempotencyKeys"][number][] = [];
  readonly idempotencyKeysOfFreezes: BatchLookup["idempotencyKeys"][number][] = [];
  readonly paymentIds = new Set<TransactionId>();
  readonly railRevisionIds = new Set<TransactionId>();
  readonly orderIds = new Set<TransactionId>();
  readonly referencesOfPayments: BatchLookup["references"][number][] = [];
  readonly idempotencyKeysOfPayments: BatchLookup["idempotencyKeys"][number][] = [];
  readonly receipts: BatchLookup["receipts"][number][] = [];
  readonly movements: BatchLookup["movements"][number][] = [];
  readonly subjects = new Set<string>();

  account(id: AccountId): void {
    this.accountIds.add(id);
  }

  accountHolder(id: AccountId): void {
    this.accountIds.add(id);
    this.holderIds.add(id);
  }

  fullAccount(id: AccountId): void {
    this.accountHolder(id);
    this.fullAccountIds.add(id);
  }

  accountOfUser(organizationId: OrganizationId, userId: UserId): void {
    this.users.push({ organizationId, userId });
  }

  transaction(id: TransactionId): void {
    this.transactionIds.add(id);
  }

  transactionWithReference(organizationId: OrganizationId, reference: Reference): void {
    this.references.push({ organizationId, reference });
  }

  idempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): void {
    this.idempotencyKeys.push({ organizationId, key });
  }

  idempotencyKeyOfAccount(organizationId: OrganizationId, key: IdempotencyKey): void {
    this.idempotencyKey(organizationId, key);
    this.idempotencyKeysOfAccounts.push({ organizationId, key });
  }

  idempotencyKeyOfFreeze(organizationId: OrganizationId, key: IdempotencyKey): void {
    this.idempotencyKey(organizationId, key);
    this.idempotencyKeysOfFreezes.push({ organizationId, key });
  }

  freeze(id: FreezeId): void {
    this.freezeIds.add(id);
  }

  idempotencyKeyOfPayment(organizationId: OrganizationId, key: IdempotencyKey): void {
    this.idempotencyKey(organizationId, key);
    this.idempotencyKeysOfPayments.push({ organizationId, key });
  }

  payment(id: TransactionId): void {
    this.transaction(id);
    this.paymentIds.add(id);
  }

  paymentWithReference(organizationId: OrganizationId, reference: Reference): void {
    this.transactionWithReference(organizationId, reference);
    this.referencesOfPayments.push({ organizationId, reference });
  }

  railRevision(id: TransactionId): void {
    this.railRevisionIds.add(id);
  }

  order(id: TransactionId): void {
    this.payment(id);
    this.orderIds.add(id);
  }

  receipt(organizationId: OrganizationId, receipt: RailReceipt): void {
    this.receipts.push({ organizationId, receipt });
  }

  movement(organizationId: OrganizationId, movement: RailMovement): void {
    this.movements.push({ organizationId, movement });
  }

  proposal(subject: string): void {
    this.subjects.add(subject);
  }
}
