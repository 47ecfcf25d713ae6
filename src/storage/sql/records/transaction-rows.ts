import {
  type FailureReason,
  FIRST_FAILURE_REASONS,
  type FlagReason,
  type HoldReason,
  type RailMovement,
  type RailReceipt,
} from "../../../domain/payment.js";
import type { Correction, Rail, Transaction, TransactionStatus, TransactionType } from "../../../domain/transaction.js";
import { toCents } from "../../../domain/values/cents.js";
import type { AccountId, DepositId, DestinationId, TransactionId } from "../../../domain/values/ids.js";
import type { Description, Metadata, Reference, StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type RowOf } from "../../../model/column.js";
import { TRANSACTIONS } from "../../../model/transactions.js";
import { readPart } from "../../secrets/unreadable-row.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import { changesOnly, type RowPlace, type Table } from "../table.js";
import { isAsMade, madeBy, madeTransactionColumns, type MadeTransactionRow } from "./made-rows.js";

/** A row of `transactions`, as both drivers read it. */
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

/** A row of `transactions` with the column of `withBalanceAfter`. */
export interface ReadTransactionRow extends TransactionRow {
  /** Null until the transaction is completed. */
  readonly available_after_cents: number | null;
}

export const TRANSACTION_TABLE: Table<Transaction, ReadTransactionRow & MadeTransactionRow> = {
  name: "transactions",
  key: "id",
  insertedRow: transactionRowOf,
  contentOf: contentOfTransaction,
  reads: (engine, { list, pairs, keyed }) => {
    const { table, within, lookedUp } = engine;
    const columns = `${withBalanceAfter(engine)}, ${madeTransactionColumns(engine)}`;
    return [
      {
        finders: ["transaction", "idempotencyKey", "transactionWithReference"],
        sql: `
          SELECT ${columns} FROM ${table("transactions")} t ${madeBy(engine, "t")}
          WHERE ${within("t.id", `${list} UNION ALL ${keyed}`)}
          UNION ALL
          SELECT ${columns} FROM ${pairs}
          ${lookedUp(table("transactions"), "t", "t.book = input.book AND t.reference = input.name", madeBy(engine, "t"))}`,
      },
      // The corrections that book what a rail reported late.
      {
        finders: ["order"],
        sql: `
          SELECT ${columns} FROM ${table("transactions")} t ${madeBy(engine, "t")}
          WHERE t.correction = 'LATE' AND t.corrects_id IN (${list}) ORDER BY t.seq`,
      },
    ];
  },
  rowOf: transactionOf,
  isAsWritten: isTransactionAsMade,
  updates: [{ sets: ["reversed_by_id"], fits: changesOnly(["reversedById"]) }, { sets: changedNamesOf(TRANSACTIONS) }],
};

/**
 * Returns the columns that a read of transactions selects. The journal row that completed the
 * transaction has the balance after it. `t` is the table, or a selection of all its columns.
 */
export function withBalanceAfter({ table }: Pick<Engine, "table">, t = "t"): string {
  // Both engines use the partial index of terminal rows only if the statement repeats its
  // condition.
  return `${t}.*, CASE WHEN ${t}.status = 'COMPLETED' THEN (
    SELECT ended.available_after_cents FROM ${table("journal")} ended WHERE ended.transaction_id = ${t}.id
      AND ended.kind IN ('transaction.completed', 'transaction.failed', 'transaction.canceled')
  ) END AS available_after_cents`;
}

// The service parsed every value before it wrote the row. So the code restores the brands without a
// second check. It checks the amounts again.
export function transactionOf(row: ReadTransactionRow, { organizationId }: OpenBook): Transaction {
  return {
    id: row.id as TransactionId,
    organizationId,
    accountId: row.account_id as AccountId,
    type: row.type as TransactionType,
    status: row.status as TransactionStatus,
    statusReason: row.status_reason as StatusReason,
    amountCents: toCents(row.amount_cents),
    reference: row.reference as Reference,
    description: row.description as Description,
    metadata: metadataOf(row),
    rail: row.rail as Rail,
    railMovement: (row.rail_movement ?? undefined) as RailMovement | undefined,
    railReceipt: (row.rail_receipt ?? undefined) as RailReceipt | undefined,
    failure: (row.later_failure ?? row.failure ?? undefined) as FailureReason | undefined,
    openFlags: row.open_flags === null ? NO_FLAGS : (row.open_flags.split(",") as FlagReason[]),
    heldFor: row.held_for === null ? NO_HOLDS : (row.held_for.split(",") as HoldReason[]),
    corrects: correctionOf(row),
    depositId: (row.deposit_id ?? undefined) as DepositId | undefined,
    destinationId: (row.destination_id ?? undefined) as DestinationId | undefined,
    reversedById: (row.reversed_by_id ?? undefined) as TransactionId | undefined,
    availableAfterCents: row.available_after_cents === null ? undefined : toCents(row.available_after_cents),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
    completedAt: row.completed_at === null ? undefined : toUnixMillis(row.completed_at),
  };
}

export function metadataOf({ id, metadata }: Pick<TransactionRow, "id" | "metadata">): Metadata {
  const entries = readPart(`metadata of ${id}`, () => new Map(JSON.parse(metadata) as [string, string][]));
  return entries as ReadonlyMap<string, string> as Metadata;
}

export function correctionOf({
  corrects_id: id,
  correction,
}: Pick<TransactionRow, "corrects_id" | "correction">): Correction | undefined {
  if (id === null) return undefined;
  return { kind: correction as Correction["kind"], transactionId: id as TransactionId };
}

function transactionRowOf(transaction: Transaction, { book, seq }: RowPlace): TransactionRow {
  const { failure } = transaction;
  // The CHECK of the first release does not know the others.
  const isFirst = failure === undefined || FIRST_FAILURES.has(failure);
  return {
    book: book.number,
    seq,
    id: transaction.id,
    account_id: transaction.accountId,
    type: transaction.type,
    status: transaction.status,
    status_reason: transaction.statusReason,
    amount_cents: transaction.amountCents,
    reference: transaction.reference,
    description: transaction.description,
    metadata: metadataText(transaction.metadata),
    rail: transaction.rail,
    rail_movement: transaction.railMovement ?? null,
    rail_receipt: transaction.railReceipt ?? null,
    failure: isFirst ? (failure ?? null) : ("RESOLVED_BY_OPERATOR" satisfies FailureReason),
    later_failure: isFirst ? null : failure,
    open_flags: wordsText(transaction.openFlags),
    held_for: wordsText(transaction.heldFor),
    corrects_id: transaction.corrects?.transactionId ?? null,
    correction: transaction.corrects?.kind ?? null,
    deposit_id: transaction.depositId ?? null,
    destination_id: transaction.destinationId ?? null,
    reversed_by_id: transaction.reversedById ?? null,
    created_at: transaction.createdAt,
    updated_at: transaction.updatedAt,
    completed_at: transaction.completedAt ?? null,
  };
}

const NO_FLAGS: readonly FlagReason[] = [];
const NO_HOLDS: readonly HoldReason[] = [];
const FIRST_FAILURES: ReadonlySet<string> = new Set(FIRST_FAILURE_REASONS);

function wordsText(words: readonly string[]): string | null {
  return words.length === 0 ? null : words.join(",");
}

function metadataText(metadata: Metadata): string {
  return metadata.size === 0 ? "[]" : JSON.stringify([...metadata]);
}

/** Returns the fields of a new transaction that the content hash covers. They never change. */
function contentOfTransaction(transaction: Transaction): readonly string[] {
  const { type, amountCents, reference, description, metadata, rail, corrects } = transaction;
  const correction = [corrects?.kind ?? "", corrects?.transactionId ?? ""];
  return [type, String(amountCents), reference, description, metadataText(metadata), rail, ...correction].concat(
    // A transaction has one of them, or neither.
    transaction.depositId ?? transaction.destinationId ?? [],
  );
}

/** Returns whether the transaction is as the journal has it, with its status. */
export function isTransactionAsMade(
  row: MadeTransactionRow,
  book: Pick<OpenBook, "salts">,
  transaction: Transaction,
): boolean {
  const { id: transactionId, accountId, railMovement: movement, status, heldFor } = transaction;
  if (row.status_by_journal !== status) return false;
  if (row.hold_by_journal !== (heldFor.length === 0 ? null : heldFor.join(","))) return false;
  return isAsMade(row, book, { transactionId, accountId, content: contentOfTransaction(transaction), movement });
}
