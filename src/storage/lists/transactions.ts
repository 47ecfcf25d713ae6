import type { Page, PageRequest, TransactionFilters } from "../../ledger/ports/reads.js";
import { NEEDS_ATTENTION } from "../../model/transactions.js";
import type { Engine } from "../sql/engine.js";
import { type ReadTransactionRow, withBalanceAfter } from "../sql/records/transaction-rows.js";
import { accountHistoryPage } from "./account-history.js";
import { createdIn } from "./first-seq-from.js";
import { type Condition, given, type ListQuery, type ListReader, readPage, statusIn } from "./page.js";

interface TransactionList {
  readonly book: number;
  readonly filters: TransactionFilters;
  readonly page: PageRequest;
}

/** Reads one page of the book's transactions, newest first. */
export async function transactionsPage(
  reader: ListReader,
  engine: Engine,
  { book, filters, page }: TransactionList,
): Promise<Page<ReadTransactionRow>> {
  const { accountId, type, status, reference, receipt, createdAfter, createdBefore, needsAttention } = filters;
  const common = {
    book,
    columns: "t.*",
    shown: withBalanceAfter(engine, "looked_at"),
    from: `${engine.table("transactions")} t`,
    seq: "t.seq",
  };
  const read = (query: Pick<ListQuery, "along" | "oneOf" | "matching">, index?: string) => {
    const from = index === undefined ? common.from : common.from + engine.indexedBy(index);
    return readPage<ReadTransactionRow>(reader, engine, { query: { ...common, from, ...query }, page });
  };
  const inBook = ["t.book = ?", book] as const;
  const ofType = given([["type = ?", type]]);
  const unindexed = otherConditions(engine, filters, "");
  const others = [...unindexed, ...flagged(needsAttention)];
  if (reference !== undefined || receipt !== undefined) {
    return read({ along: [inBook, ...ofOneAtMost(engine, book, filters), ...ofType, ...statusIn(status), ...others] });
  }

  const { fromSeq, toSeq } = await createdIn(reader, engine, { book, createdAfter, createdBefore });
  const inTime = given([
    ["t.seq >= ?", fromSeq],
    ["t.seq < ?", toSeq],
  ]);
  if (accountId !== undefined) {
    const matching = [
      ...inTime,
      ...ofType,
      ...statusIn(status),
      ...otherConditions(engine, filters, "t."),
      ...flagged(needsAttention),
    ];
    return accountHistoryPage(reader, engine, { book, accountId, fromSeq: fromSeq ?? 1, matching, page });
  }
  const along = [inBook, ...inTime];
  if (needsAttention === true) {
    const matching = [...ofType, ...statusIn(status), ...unindexed];
    return read({ along: [...along, ...flagged(needsAttention)], matching }, "transactions_attention");
  }
  if (status !== undefined && !status.includes("COMPLETED")) {
    // Both engines use the partial index only if the statement repeats its condition.
    const oneOf = status.map((one): Condition => ["t.status <> 'COMPLETED' AND t.status = ?", one]);
    return read({ along, oneOf, matching: [...ofType, ...others] }, "transactions_not_completed");
  }
  const matching = [...statusIn(status), ...others];
  return read({ along: [...along, ...ofType], matching }, type === undefined ? undefined : "transactions_by_type");
}

/**
 * Returns the conditions of a list by reference or receipt. At most one transaction has the
 * reference, and at most one the receipt, so no other condition needs an index. The receipt of a
 * deposit leads to the mint that has credited it last.
 */
function ofOneAtMost(
  { table }: Engine,
  book: number,
  { reference, receipt, accountId, createdAfter, createdBefore }: TransactionFilters,
): readonly Condition[] {
  const plain = given([
    ["t.reference = ?", reference],
    ["account_id = ?", accountId],
    ["created_at >= ?", createdAfter],
    ["created_at < ?", createdBefore],
  ]);
  if (receipt === undefined) return plain;
  // The seq leads to the row in the order of the list. The id would need a sort.
  const seq = `
    SELECT r.seq FROM ${table("journal")} j JOIN ${table("transactions")} r ON r.id = j.transaction_id
    WHERE j.book = ? AND j.rail_receipt = ?
    UNION ALL
    SELECT r.seq FROM ${table("deposits")} d JOIN ${table("transactions")} r ON r.id = d.transaction_id
    WHERE d.book = ? AND d.receipt = ?`;
  return [[`t.seq = (${seq})`, book, receipt, book, receipt], ...plain];
}

/** Returns the condition on what needs a person. Only transactions have such columns. */
function flagged(needsAttention: boolean | undefined): readonly Condition[] {
  if (needsAttention === undefined) return [];
  return [[needsAttention ? NEEDS_ATTENTION : `NOT ${NEEDS_ATTENTION}`]];
}

/** Returns the conditions that no index serves. `prefix` stands before the names of the columns. */
function otherConditions(
  engine: Engine,
  { rail, correction, minAmountCents, maxAmountCents, metadata }: TransactionFilters,
  prefix: "" | "t.",
): readonly Condition[] {
  const plain = given([
    [`${prefix}rail = ?`, rail],
    [`${prefix}correction = ?`, correction],
    [`${prefix}amount_cents >= ?`, minAmountCents],
    [`${prefix}amount_cents <= ?`, maxAmountCents],
  ]);
  if (metadata === undefined) return plain;
  // The column is a JSON array of pairs with distinct keys. Equal pairs have equal texts
  // (metadataText in sql/rows.ts). One count reads a row once, however many pairs the filter has.
  const pairs = Array.from(metadata, (pair) => JSON.stringify(pair));
  const found = `SELECT count(*) FROM ${engine.jsonItems(`${prefix}metadata`)} WHERE value IN (${pairs.map(() => "?").join(", ")})`;
  return [...plain, [`(${found}) = ?`, ...pairs, pairs.length]];
}
