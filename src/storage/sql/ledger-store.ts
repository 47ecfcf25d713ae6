import type { Account } from "../../domain/account.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { IdempotencyKey } from "../../domain/values/text.js";
import {
  type Changes,
  type LedgerStore,
  type Loaded,
  type Lookup,
  StoreError,
  type StoreTransaction,
  type SupplyChange,
} from "../../ledger/ports/store.js";
import type { Engine, Session, Transact, Write } from "./engine.js";
import {
  type CHANGED_ACCOUNT_COLUMNS,
  type CHANGED_BALANCE_COLUMNS,
  type CHANGED_TRANSACTION_COLUMNS,
  type HEAD_COLUMNS,
  type IDEMPOTENCY_KEY_COLUMNS,
  type JOURNAL_COLUMNS,
  type LedgerStatements,
  ledgerStatements,
  type SUPPLY_CHANGE_COLUMNS,
} from "./ledger-statements.js";
import {
  accountOf,
  type AccountRow,
  accountRowOf,
  transactionOf,
  type TransactionRow,
  transactionRowOf,
} from "./rows.js";
import { orStoreError } from "./store-error.js";

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
          const inside = new LedgerTransaction(session, statements);
          return await work({
            load: (lookup) => orStoreError(engine, inside.load(lookup)),
            save: (changes) => orStoreError(engine, inside.save(changes)),
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

/** What the ledger does in one database transaction: it loads once, and then saves once. */
class LedgerTransaction implements StoreTransaction {
  readonly #session: Session;
  readonly #statements: LedgerStatements;
  /** Of each account that was loaded: the `seq` of its newest row in the journal. */
  readonly #lastSeqs = new Map<string, number>();

  /** The last `seq` that was given out, which nobody else can move now. */
  #head: HeadRow | undefined;

  constructor(session: Session, statements: LedgerStatements) {
    this.#session = session;
    this.#statements = statements;
  }

  async load(lookup: Lookup): Promise<Loaded> {
    const { idempotencyKeys, accountsOfUsers, lockedAccounts, transactions, lockedHead } = this.#statements;
    const { accountIds, transactionIds } = lookup;
    const keys = lookup.idempotencyKeys.map(({ organizationId, key }) => ({ organization_id: organizationId, key }));
    const users = lookup.users.map(({ organizationId, userId }) => ({
      organization_id: organizationId,
      user_id: userId,
    }));
    const references = lookup.references.map(({ organizationId, reference }) => ({
      organization_id: organizationId,
      reference,
    }));

    // In this order. Transactions come after the locks on their accounts: nobody else can change
    // them from then on. The head comes last, and others wait for it as short as can be.
    const [keyRows, userRows, accountRows, transactionRows, [head]] = await Promise.all([
      this.#rowsFor<IdempotencyKeyRow>(idempotencyKeys, keys),
      this.#rowsFor<AccountRow>(accountsOfUsers, users),
      this.#rowsFor<AccountRow>(lockedAccounts, accountIds, transactionIds, keys),
      this.#rowsFor<TransactionRow>(transactions, transactionIds, keys, references),
      this.#session.read({ sql: lockedHead, bindings: [] }) as Promise<readonly HeadRow[]>,
    ]);
    this.#head = head;
    // Of two rows of one account the later counts: the one that was read under the lock.
    const accounts = [...userRows, ...accountRows];
    for (const { id, last_seq: lastSeq } of accounts) this.#lastSeqs.set(id, lastSeq);
    return {
      accounts: accounts.map(accountOf),
      transactions: transactionRows.map(transactionOf),
      idempotencyKeys: keyRows.map((row) => ({
        organizationId: row.organization_id as OrganizationId,
        key: row.key as IdempotencyKey,
        resourceId: row.resource_id as AccountId | TransactionId,
      })),
    };
  }

  /**
   * The rows that a SELECT finds for the inputs, of which each is one parameter. Asks nothing for
   * nothing.
   */
  async #rowsFor<Row>(sql: string, ...inputs: readonly (readonly unknown[])[]): Promise<readonly Row[]> {
    if (inputs.every((input) => input.length === 0)) return [];
    const bindings = inputs.map((input) => JSON.stringify(input));
    return (await this.#session.read({ sql, bindings })) as readonly Row[];
  }

  async save(changes: Changes): Promise<void> {
    if (this.#head === undefined) throw new StoreError("rejected", new Error("journal_head has lost its row"));
    await this.#session.write(this.#writesOf(changes, this.#head.last_seq));
  }

  #writesOf(changes: Changes, headSeq: number): readonly Write[] {
    const statements = this.#statements;
    const seqOf = (entryIndex: number): number => headSeq + 1 + entryIndex;
    // Before the accounts are written: this is what moves their last_seq.
    const journalRows = changes.entries.map((entry, index) => this.#append(entry, seqOf(index)));
    const writes: readonly Write[] = [
      {
        sql: statements.updateHead,
        rows: [{ id: 1, last_seq: headSeq + changes.entries.length } satisfies RowOf<typeof HEAD_COLUMNS>],
      },
      // In this order: what refers to a row comes after it.
      {
        sql: statements.insertAccounts,
        rows: changes.createdAccounts.map(({ row, entryIndex }) =>
          accountRowOf(row, { seq: seqOf(entryIndex), lastSeq: this.#lastSeqOf(row) }),
        ),
      },
      {
        sql: statements.updateAccounts,
        rows: changes.changedAccounts.map((account) => changedAccountRowOf(account, this.#lastSeqOf(account))),
      },
      {
        sql: statements.updateBalances,
        rows: changes.changedBalances.map((account) => changedBalanceRowOf(account, this.#lastSeqOf(account))),
      },
      {
        sql: statements.insertTransactions,
        rows: changes.createdTransactions.map(({ row, entryIndex }) => transactionRowOf(row, seqOf(entryIndex))),
      },
      { sql: statements.updateTransactions, rows: changes.changedTransactions.map(changedTransactionRowOf) },
      { sql: statements.insertJournal, rows: journalRows },
      { sql: statements.insertIdempotencyKeys, rows: changes.idempotencyKeys.map(idempotencyKeyRowOf) },
      { sql: statements.updateSupply, rows: changes.supplyChanges.map(supplyChangeRowOf) },
    ];
    return writes.filter(({ rows }) => rows.length > 0);
  }

  /**
   * Links the entry to the row of the same account before it; a row that creates an account has
   * none.
   */
  #append(entry: JournalEntry, seq: number): RowOf<typeof JOURNAL_COLUMNS> {
    const previousSeq = this.#lastSeqs.get(entry.accountId) ?? null;
    this.#lastSeqs.set(entry.accountId, seq);
    return journalRowOf(entry, { seq, previousSeq });
  }

  #lastSeqOf(account: Account): number {
    const lastSeq = this.#lastSeqs.get(account.id);
    if (lastSeq === undefined) throw new Error(`the batch changed ${account.id} without a row in the journal`);
    return lastSeq;
  }
}

interface HeadRow {
  readonly last_seq: number;
}

interface IdempotencyKeyRow {
  readonly organization_id: string;
  readonly key: string;
  readonly resource_id: string;
}

function changedBalanceRowOf(account: Account, lastSeq: number): RowOf<typeof CHANGED_BALANCE_COLUMNS> {
  return {
    id: account.id,
    last_seq: lastSeq,
    available_cents: account.availableCents,
    held_cents: account.heldCents,
    updated_at: account.updatedAt,
  };
}

function changedAccountRowOf(account: Account, lastSeq: number): RowOf<typeof CHANGED_ACCOUNT_COLUMNS> {
  return { ...changedBalanceRowOf(account, lastSeq), status: account.status, status_reason: account.statusReason };
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

function journalRowOf(
  entry: JournalEntry,
  { seq, previousSeq }: { seq: number; previousSeq: number | null },
): RowOf<typeof JOURNAL_COLUMNS> {
  return {
    seq,
    previous_seq: previousSeq,
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
