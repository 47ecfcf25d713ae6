import type { TableName, UsedIdempotencyKey } from "../../domain/decision.js";
import type { JournalEntry } from "../../domain/journal.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { IdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import {
  type BatchLookup,
  type Changes,
  type LedgerStore,
  type Loaded,
  StoreError,
  type StoreTransaction,
  type SupplyChange,
  type TableChanges,
} from "../../ledger/ports/store.js";
import type { Engine, Session, Transact, Write } from "./engine.js";
import {
  type HEAD_COLUMNS,
  type JOURNAL_COLUMNS,
  type LedgerStatements,
  ledgerStatements,
  type SUPPLY_CHANGE_COLUMNS,
} from "./ledger-statements.js";
import { accountOf, type AccountRow, transactionOf, type TransactionRow } from "./rows.js";
import { orStoreError } from "./store-error.js";
import { type LastSeqOf, type SqlRow, type Table, TABLES } from "./tables.js";

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** Implements the port `LedgerStore` on the transactions of an engine. */
export function ledgerStore(engine: Engine, transaction: Transact): LedgerStore {
  const statements = ledgerStatements(engine);
  return {
    async transact(work) {
      // An error that `work` throws by itself is a bug. It must not look like a failure of the
      // database.
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

/** One database transaction of the ledger. It loads once, and then saves once. */
class LedgerTransaction implements StoreTransaction {
  readonly #session: Session;
  readonly #statements: LedgerStatements;
  /** The `seq` of the newest journal row of each loaded account. */
  readonly #lastSeqs = new Map<string, number>();

  /** The row that holds the last `seq`. The lock on it keeps other servers from changing it. */
  #head: HeadRow | undefined;

  constructor(session: Session, statements: LedgerStatements) {
    this.#session = session;
    this.#statements = statements;
  }

  async load(lookup: BatchLookup): Promise<Loaded> {
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

    // The order of the statements matters. Transactions are read after their accounts are locked,
    // so no other server can change them afterwards. The head is locked last, so that other servers
    // wait for it as briefly as possible.
    const [keyRows, userRows, accountRows, transactionRows, [head]] = await Promise.all([
      this.#rowsFor<IdempotencyKeyRow>(idempotencyKeys, keys),
      this.#rowsFor<AccountRow>(accountsOfUsers, users),
      this.#rowsFor<AccountRow>(lockedAccounts, accountIds, transactionIds, keys),
      this.#rowsFor<TransactionRow>(transactions, transactionIds, keys, references),
      this.#session.read({ sql: lockedHead, bindings: [] }) as Promise<readonly HeadRow[]>,
    ]);
    this.#head = head;
    // If an account occurs twice, the later row wins: it was read under the lock.
    const accounts = [...userRows, ...accountRows];
    for (const { id, last_seq: lastSeq } of accounts) this.#lastSeqs.set(id, lastSeq);
    return {
      accounts: accounts.map(accountOf),
      transactions: transactionRows.map(transactionOf),
      idempotencyKeys: keyRows.map(idempotencyKeyOf),
    };
  }

  /**
   * Returns the rows that a SELECT finds. Each input is one parameter, encoded as JSON. Skips the
   * query if all inputs are empty.
   */
  async #rowsFor<Row>(sql: string, ...inputs: readonly (readonly unknown[])[]): Promise<readonly Row[]> {
    if (inputs.every((input) => input.length === 0)) return [];
    const bindings = inputs.map((input) => JSON.stringify(input));
    return (await this.#session.read({ sql, bindings })) as readonly Row[];
  }

  async save(changes: Changes): Promise<void> {
    if (this.#head === undefined) throw new StoreError("rejected", new Error("the table journal_head has no row"));
    await this.#session.write(this.#writesOf(changes, this.#head.last_seq));
  }

  #writesOf(changes: Changes, headSeq: number): readonly Write[] {
    const statements = this.#statements;
    const seqOf = (entryIndex: number): number => headSeq + 1 + entryIndex;
    // The journal comes before the tables, because #append updates the accounts' last_seq.
    const journalRows = changes.entries.map((entry, index) => this.#append(entry, seqOf(index)));
    const head: SqlRow<typeof HEAD_COLUMNS> = { id: 1, last_seq: headSeq + changes.entries.length };
    const writes: readonly Write[] = [
      { sql: statements.updateHead, rows: [head] },
      // The order matters: a row comes after the rows that it refers to.
      ...TABLE_NAMES.flatMap((name) => this.#tableWrites(name, changes, seqOf)),
      { sql: statements.insertJournal, rows: journalRows },
      { sql: statements.updateSupply, rows: changes.supplyChanges.map(supplyChangeRowOf) },
    ];
    return writes.filter(({ rows }) => rows.length > 0);
  }

  #tableWrites(name: TableName, changes: Changes, seqOf: (entryIndex: number) => number): readonly Write[] {
    const table = TABLES[name] as Table<unknown>;
    const { created, changed } = changes.tables[name] as TableChanges<unknown>;
    const { insert, updates } = this.#statements.tables[name];
    const inserts: Write = {
      sql: insert,
      rows: created.map(({ row, entryIndex }) => table.insertedRow(row, seqOf(entryIndex), this.#lastSeqOf)),
    };
    const rowsByUpdate = updates.map((): object[] => []);
    for (const { before, row } of changed) {
      const index = table.updates.findIndex(({ fits }) => fits(before, row));
      const update = table.updates[index];
      if (update === undefined) throw new Error(`a row of ${table.name} changed, but its rows must never change`);
      rowsByUpdate[index]?.push(update.updatedRow(row, this.#lastSeqOf));
    }
    return [inserts, ...updates.map((sql, index): Write => ({ sql, rows: rowsByUpdate[index] ?? [] }))];
  }

  /**
   * Links the entry to the previous row of the same account. The first row of an account has no
   * previous row.
   */
  #append(entry: JournalEntry, seq: number): SqlRow<typeof JOURNAL_COLUMNS> {
    const previousSeq = this.#lastSeqs.get(entry.accountId) ?? null;
    this.#lastSeqs.set(entry.accountId, seq);
    return journalRowOf(entry, { seq, previousSeq });
  }

  readonly #lastSeqOf: LastSeqOf = (accountId) => {
    const lastSeq = this.#lastSeqs.get(accountId);
    if (lastSeq === undefined) throw new Error(`the batch changed ${accountId}, but it has no journal row`);
    return lastSeq;
  };
}

interface HeadRow {
  readonly last_seq: number;
}

interface IdempotencyKeyRow {
  readonly organization_id: string;
  readonly key: string;
  readonly resource_id: string;
  readonly created_at: number;
}

function idempotencyKeyOf(row: IdempotencyKeyRow): UsedIdempotencyKey {
  return {
    organizationId: row.organization_id as OrganizationId,
    key: row.key as IdempotencyKey,
    resourceId: row.resource_id as AccountId | TransactionId,
    createdAt: toUnixMillis(row.created_at),
  };
}

function journalRowOf(
  entry: JournalEntry,
  { seq, previousSeq }: { seq: number; previousSeq: number | null },
): SqlRow<typeof JOURNAL_COLUMNS> {
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

function supplyChangeRowOf(change: SupplyChange): SqlRow<typeof SUPPLY_CHANGE_COLUMNS> {
  return {
    organization_id: change.organizationId,
    reserve_cents: String(change.reserveCents),
    available_cents: String(change.availableCents),
    held_cents: String(change.heldCents),
  };
}
