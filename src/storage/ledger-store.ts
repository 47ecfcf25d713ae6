import type { Knex } from "knex";

import type { Account } from "../domain/account.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/ids.js";
import type { JournalEntry } from "../domain/journal.js";
import type { IdempotencyKey } from "../domain/text.js";
import type { Transaction } from "../domain/transaction.js";
import {
  StoreError,
  type Changes,
  type LedgerStore,
  type Loaded,
  type Lookup,
  type SupplyChange,
} from "../ledger/store.js";
import type { Database } from "./database.js";
import type { Engine } from "./engine.js";
import {
  ledgerStatements,
  type CHANGED_ACCOUNT_COLUMNS,
  type CHANGED_TRANSACTION_COLUMNS,
  type IDEMPOTENCY_KEY_COLUMNS,
  type JOURNAL_COLUMNS,
  type LedgerStatements,
  type SUPPLY_CHANGE_COLUMNS,
} from "./ledger-statements.js";
import { orStoreError, query } from "./query.js";
import {
  accountOf,
  accountRowOf,
  transactionOf,
  transactionRowOf,
  type AccountRow,
  type TransactionRow,
} from "./rows.js";

type RowOf<Columns> = Readonly<Record<keyof Columns, string | number | null>>;

/** The ledger's port, on Knex. */
export function ledgerStore({ write, engine }: Database): LedgerStore {
  const statements = ledgerStatements(engine);
  return {
    async transact(work) {
      // What `work` throws by itself is a bug: it must not pass for a failure of the database.
      let bug: { readonly error: unknown } | undefined;
      const outcome = write.transaction(async (knex) => {
        try {
          return await work({
            load: (lookup) => orStoreError(engine, load(knex, statements, lookup)),
            save: (changes) => orStoreError(engine, save(knex, { engine, statements, changes })),
          });
        } catch (error) {
          bug = error instanceof StoreError ? undefined : { error };
          throw error;
        }
      });
      try {
        return await orStoreError(engine, outcome);
      } catch (error) {
        throw bug === undefined ? error : bug.error;
      }
    },
  };
}

async function load(knex: Knex, statements: LedgerStatements, lookup: Lookup): Promise<Loaded> {
  const keyRows = await queryUnlessEmpty<{ organization_id: string; key: string; resource_id: string }>(
    knex,
    statements.idempotencyKeys,
    lookup.idempotencyKeys.map(({ organizationId, key }) => ({ organization_id: organizationId, key })),
  );
  // Of accounts or of transactions: an id of the one is never an id of the other.
  const resourceIds = keyRows.map((row) => row.resource_id);
  const accountIds = JSON.stringify([...lookup.accountIds, ...resourceIds]);
  const transactionIds = JSON.stringify([...lookup.transactionIds, ...resourceIds]);
  const references = JSON.stringify(
    lookup.references.map(({ organizationId, reference }) => ({ organization_id: organizationId, reference })),
  );

  const accountsOfUsers = await queryUnlessEmpty<AccountRow>(
    knex,
    statements.accountsOfUsers,
    lookup.users.map(({ organizationId, userId }) => ({ organization_id: organizationId, user_id: userId })),
  );
  const lockedAccounts = await query<AccountRow>(knex, statements.lockedAccounts, [accountIds, transactionIds]);
  // After the lock on their accounts is held: nobody else can change these transactions now.
  const transactions = await query<TransactionRow>(knex, statements.transactions, [transactionIds, references]);
  return {
    // Of two rows of one account the later counts: the one that was read under the lock.
    accounts: [...accountsOfUsers, ...lockedAccounts].map(accountOf),
    transactions: transactions.map(transactionOf),
    idempotencyKeys: keyRows.map((row) => ({
      organizationId: row.organization_id as OrganizationId,
      key: row.key as IdempotencyKey,
      resourceId: row.resource_id as AccountId | TransactionId,
    })),
  };
}

async function save(
  knex: Knex,
  { engine, statements, changes }: { engine: Engine; statements: LedgerStatements; changes: Changes },
): Promise<void> {
  // First, so that savers on all servers take turns from here to the commit: the order of seq is the order of commits.
  const [head] = await query<{ last_seq: number }>(knex, statements.advanceHead, [changes.entries.length]);
  if (head === undefined) throw new Error("journal_head has lost its row");
  const firstSeq = head.last_seq - changes.entries.length + 1;

  // In this order: what refers to a row comes after it.
  const steps: readonly (readonly [statement: string, rows: readonly object[]])[] = [
    [
      statements.insertAccounts,
      changes.createdAccounts.map(({ row, entryIndex }) => accountRowOf(row, firstSeq + entryIndex)),
    ],
    [statements.updateAccounts, changes.changedAccounts.map(changedAccountRowOf)],
    [
      statements.insertTransactions,
      changes.createdTransactions.map(({ row, entryIndex }) => transactionRowOf(row, firstSeq + entryIndex)),
    ],
    [statements.updateTransactions, changes.changedTransactions.map(changedTransactionRowOf)],
    [statements.insertJournal, changes.entries.map((entry, index) => journalRowOf(entry, firstSeq + index))],
    [statements.insertIdempotencyKeys, changes.idempotencyKeys.map(idempotencyKeyRowOf)],
    [statements.updateSupply, changes.supplyChanges.map(supplyChangeRowOf)],
  ];
  for (const [statement, rows] of steps) {
    if (rows.length > 0) await engine.write(knex, statement, rows);
  }
}

async function queryUnlessEmpty<Row>(knex: Knex, sql: string, rows: readonly object[]): Promise<readonly Row[]> {
  return rows.length === 0 ? [] : query<Row>(knex, sql, [JSON.stringify(rows)]);
}

function changedAccountRowOf(account: Account): RowOf<typeof CHANGED_ACCOUNT_COLUMNS> {
  return {
    id: account.id,
    status: account.status,
    status_reason: account.statusReason,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    updated_at: account.updatedAt,
  };
}

function changedTransactionRowOf(transaction: Transaction): RowOf<typeof CHANGED_TRANSACTION_COLUMNS> {
  return {
    id: transaction.id,
    status: transaction.status,
    status_reason: transaction.statusReason,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}

function journalRowOf(entry: JournalEntry, seq: number): RowOf<typeof JOURNAL_COLUMNS> {
  return {
    seq,
    organization_id: entry.organizationId,
    account_id: entry.accountId,
    transaction_id: entry.transactionId ?? null,
    kind: entry.kind,
    debit: entry.posting?.debit ?? null,
    credit: entry.posting?.credit ?? null,
    amount_cents: entry.posting?.amountCents ?? null,
    available_after_cents: entry.availableAfterCents,
    held_after_cents: entry.heldAfterCents,
    actor: entry.actor,
    reason: entry.reason,
    recorded_at: entry.recordedAt,
  };
}

function idempotencyKeyRowOf({
  organizationId,
  key,
  resourceId,
  createdAt,
}: Changes["idempotencyKeys"][number]): RowOf<typeof IDEMPOTENCY_KEY_COLUMNS> {
  return { organization_id: organizationId, key, resource_id: resourceId, created_at: createdAt };
}

function supplyChangeRowOf(change: SupplyChange): RowOf<typeof SUPPLY_CHANGE_COLUMNS> {
  return {
    organization_id: change.organizationId,
    reserve_cents: String(change.reserveCents),
    available_cents: String(change.availableCents),
    held_cents: String(change.heldCents),
  };
}
