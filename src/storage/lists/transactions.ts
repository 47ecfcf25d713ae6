import type { TransactionStatus } from "../../domain/transaction.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Page, PageRequest, TransactionFilters } from "../../ledger/ports/reads.js";
import type { Engine } from "../sql/engine.js";
import { type ReadTransactionRow, withBalanceAfter } from "../sql/rows.js";
import { accountHistoryPage } from "./account-history.js";
import { firstSeqFrom } from "./first-seq-from.js";
import { type Condition, given, type ListReader, readPage } from "./page.js";

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
  const { accountId, type, status, reference, createdAfter, createdBefore } = filters;
  const table = `${engine.table("transactions")} t`;
  const common = { book, columns: "t.*", shown: withBalanceAfter(engine, "looked_at"), seq: "t.seq" };
  const inBook = ["t.book = ?", book] as const;
  const ofType = given([["type = ?", type]]);
  const withStatus = given([["status = ?", status]]);
  if (reference !== undefined) {
    // At most one transaction has the reference.
    const others = given([
      ["account_id = ?", accountId],
      ["created_at >= ?", createdAfter],
      ["created_at < ?", createdBefore],
    ]);
    const along = [inBook, ["t.reference = ?", reference] as const, ...others, ...ofType, ...withStatus];
    return readPage(reader, engine, { query: { ...common, from: table, along, matching: [] }, page });
  }

  const seqFrom = async (time: UnixMillis | undefined): Promise<number | undefined> =>
    time === undefined ? undefined : firstSeqFrom(reader, engine, { book, time });
  const fromSeq = await seqFrom(createdAfter);
  const inTime = given([
    ["t.seq >= ?", fromSeq],
    ["t.seq < ?", await seqFrom(createdBefore)],
  ]);
  if (accountId !== undefined) {
    const matching = [...inTime, ...ofType, ...withStatus];
    return accountHistoryPage(reader, engine, { book, accountId, fromSeq: fromSeq ?? 1, matching, page });
  }
  const { index, along, matching } = indexFor(status, { ofType, withStatus });
  const from = index === undefined ? table : table + engine.indexedBy(index);
  return readPage(reader, engine, { query: { ...common, from, along: [inBook, ...along, ...inTime], matching }, page });
}

interface ChosenIndex {
  /** Undefined for the primary key. */
  readonly index: string | undefined;
  readonly along: readonly Condition[];
  readonly matching: readonly Condition[];
}

function indexFor(
  status: TransactionStatus | undefined,
  { ofType, withStatus }: { readonly ofType: readonly Condition[]; readonly withStatus: readonly Condition[] },
): ChosenIndex {
  if (status !== undefined && status !== "COMPLETED") {
    // Both engines use the partial index only if the statement repeats its condition.
    const along: Condition[] = [["t.status <> 'COMPLETED' AND t.status = ?", status]];
    return { index: "transactions_not_completed", along, matching: ofType };
  }
  const index = ofType.length === 0 ? undefined : "transactions_by_type";
  return { index, along: ofType, matching: withStatus };
}
