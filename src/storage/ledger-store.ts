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
import type { Engine, Session, Transact, Write } from "./engine.js";
import {
  ledgerStatements,
  type CHANGED_ACCOUNT_COLUMNS,
  type CHANGED_BALANCE_COLUMNS,
  type CHANGED_TRANSACTION_COLUMNS,
  type IDEMPOTENCY_KEY_COLUMNS,
  type JOURNAL_COLUMNS,
  type LedgerStatements,
  type SUPPLY_CHANGE_COLUMNS,
} from "./ledger-statements.js";
import { orStoreError } from "./query.js";
import {
  accountOf,
  accountRowOf,
  transactionOf,
  transactionRowOf,
  type AccountRow,
  type TransactionRow,
} from "./rows.js";

type RowOf<Columns> = Readonly<Record<keyof Columns, string | number | null>>;

/** The ledger's port, on the transactions of an engine. */
export function ledgerStore(engine: Engine, transaction: Transact): LedgerStore {
  const statements = ledgerStatements(engine);
  return {
    async transact(work) {
      // What `work` throws by itself is a bug: it must not pass for a failure of the database.
      let bug: { readonly error: unknown } | undefined;
      const outcome = transaction(async (session) => {
        try {
          return await work({
            load: (lookup) => orStoreError(engine, load(session, statements, lookup)),
            save: (changes) => orStoreError(engine, session.write(writesOf(statements, changes))),
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

async function load(session: Session, statements: LedgerStatements, lookup: Lookup): Promise<Loaded> {
  const keys = jsonOf(lookup.idempotencyKeys, ({ organizationId, key }) => ({ organization_id: organizationId, key }));
  const users = jsonOf(lookup.users, ({ organizationId, userId }) => ({
    organization_id: organizationId,
    user_id: userId,
  }));
  const references = jsonOf(lookup.references, ({ organizationId, reference }) => ({
    organization_id: organizationId,
    reference,
  }));
  const accountIds = JSON.stringify(lookup.accountIds);
  const transactionIds = JSON.stringify(lookup.transactionIds);

  const [keyRows, userRows, accountRows, transactionRows] = (await session.read([
    { sql: statements.idempotencyKeys, bindings: [keys] },
    { sql: statements.accountsOfUsers, bindings: [users] },
    { sql: statements.lockedAccounts, bindings: [accountIds, transactionIds, keys] },
    // After the lock on their accounts is held: nobody else can change these transactions now.
    { sql: statements.transactions, bindings: [transactionIds, keys, references] },
  ])) as [readonly IdempotencyKeyRow[], readonly AccountRow[], readonly AccountRow[], readonly TransactionRow[]];
  return {
    // Of two rows of one account the later counts: the one that was read under the lock.
    accounts: [...userRows, ...accountRows].map(accountOf),
    transactions: transactionRows.map(transactionOf),
    idempotencyKeys: keyRows.map((row) => ({
      organizationId: row.organization_id as OrganizationId,
      key: row.key as IdempotencyKey,
      resourceId: row.resource_id as AccountId | TransactionId,
    })),
  };
}

function jsonOf<Item>(items: readonly Item[], rowOf: (item: Item) => object): string {
  return JSON.stringify(items.map(rowOf));
}

function writesOf(statements: LedgerStatements, changes: Changes): readonly Write[] {
  const { entries, createdAccounts, changedAccounts, changedBalances } = changes;
  const { createdTransactions, changedTransactions } = changes;
  const last = entries.length - 1;
  const writes: readonly Write[] = [
    // First, so that savers on all servers take turns from here on: the order of seq is the order of commits.
    { sql: statements.advanceHead, rows: [{ id: 1, last_seq: entries.length }] },
    // And then in this order: what refers to a row comes after it.
    {
      sql: statements.insertAccounts,
      rows: createdAccounts.map(({ row, entryIndex }) => accountRowOf(row, last - entryIndex)),
    },
    { sql: statements.updateAccounts, rows: changedAccounts.map(changedAccountRowOf) },
    { sql: statements.updateBalances, rows: changedBalances.map(changedBalanceRowOf) },
    {
      sql: statements.insertTransactions,
      rows: createdTransactions.map(({ row, entryIndex }) => transactionRowOf(row, last - entryIndex)),
    },
    { sql: statements.updateTransactions, rows: changedTransactions.map(changedTransactionRowOf) },
    { sql: statements.insertJournal, rows: entries.map((entry, index) => journalRowOf(entry, last - index)) },
    { sql: statements.insertIdempotencyKeys, rows: changes.idempotencyKeys.map(idempotencyKeyRowOf) },
    { sql: statements.updateSupply, rows: changes.supplyChanges.map(supplyChangeRowOf) },
  ];
  return writes.filter(({ rows }) => rows.length > 0);
}

interface IdempotencyKeyRow {
  readonly organization_id: string;
  readonly key: string;
  readonly resource_id: string;
}

function changedBalanceRowOf(account: Account): RowOf<typeof CHANGED_BALANCE_COLUMNS> {
  return {
    id: account.id,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    updated_at: account.updatedAt,
  };
}

function changedAccountRowOf(account: Account): RowOf<typeof CHANGED_ACCOUNT_COLUMNS> {
  return { ...changedBalanceRowOf(account), status: account.status, status_reason: account.statusReason };
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

function journalRowOf(entry: JournalEntry, rowsAfter: number): RowOf<typeof JOURNAL_COLUMNS> {
  return {
    seq: rowsAfter,
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
