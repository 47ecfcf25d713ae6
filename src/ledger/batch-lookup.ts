import type { Command } from "../domain/commands.js";
import type { Lookup } from "../domain/decision.js";
import { lookUp } from "../domain/operations/table.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey, Reference, UserId } from "../domain/values/text.js";
import type { BatchLookup } from "./ports/store.js";

/** Collects the keys of all rows that the decisions of a batch may read. */
export function lookupOf(commands: readonly Command[]): BatchLookup {
  const rows = new BatchRows();
  for (const command of commands) lookUp(command, rows);
  return {
    accountIds: [...rows.accountIds],
    users: rows.users,
    transactionIds: [...rows.transactionIds],
    references: rows.references,
    idempotencyKeys: rows.idempotencyKeys,
  };
}

class BatchRows implements Lookup {
  readonly accountIds = new Set<AccountId>();
  readonly users: BatchLookup["users"][number][] = [];
  readonly transactionIds = new Set<TransactionId>();
  readonly references: BatchLookup["references"][number][] = [];
  readonly idempotencyKeys: BatchLookup["idempotencyKeys"][number][] = [];

  account(id: AccountId): void {
    this.accountIds.add(id);
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
}
