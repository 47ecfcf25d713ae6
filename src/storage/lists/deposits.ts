import { isUnallocated } from "../../domain/deposit.js";
import type { DepositFilters, Page, PageRequest } from "../../ledger/ports/reads.js";
import type { Engine } from "../sql/engine.js";
import { depositColumns, type DepositRow, IS_UNALLOCATED } from "../sql/records/deposit-rows.js";
import { createdIn } from "./first-seq-from.js";
import { columnIn, type Condition, given, type ListQuery, type ListReader, readPage } from "./page.js";

interface DepositList {
  readonly book: number;
  readonly filters: DepositFilters;
  readonly page: PageRequest;
}

/** Reads one page of the book's deposits, newest first. */
export async function depositsPage(
  reader: ListReader,
  engine: Engine,
  { book, filters, page }: DepositList,
): Promise<Page<DepositRow>> {
  const { accountId, status, reason, receipt, minAmountCents, maxAmountCents, createdAfter, createdBefore } = filters;
  const { fromSeq, toSeq } = await createdIn(reader, engine, { book, createdAfter, createdBefore });
  const inTime = given([
    ["d.seq >= ?", fromSeq],
    ["d.seq < ?", toSeq],
  ]);
  const common = { book, columns: depositColumns(engine), from: `${engine.table("deposits")} d`, seq: "d.seq" };
  const read = (query: Pick<ListQuery, "along" | "matching">, index?: string) => {
    const from = index === undefined ? common.from : common.from + engine.indexedBy(index);
    return readPage<DepositRow>(reader, engine, { query: { ...common, from, ...query }, page });
  };
  const along: readonly Condition[] = [["d.book = ?", book], ...inTime];
  // No index serves amounts: a page looks at a bounded number of rows.
  const ofAmount = given([
    ["amount_cents >= ?", minAmountCents],
    ["amount_cents <= ?", maxAmountCents],
  ]);
  const others = [...columnIn("status", status), ...columnIn("reason", reason), ...ofAmount];
  if (receipt !== undefined) {
    // At most one deposit has the receipt. Its seq leads to it in the order of the list.
    const seq = `SELECT r.seq FROM ${engine.table("deposits")} r WHERE r.book = ? AND r.receipt = ?`;
    const ofReceipt: Condition = [`d.seq = (${seq})`, book, receipt];
    return read({ along: [...along, ofReceipt, ...given([["d.account_id = ?", accountId]]), ...others] });
  }
  if (accountId !== undefined) {
    const ofAccount: Condition = ["d.account_id = ?", accountId];
    return read({ along: [ofAccount, ...along], matching: others }, "deposits_of_accounts");
  }
  // Only a deposit that is UNALLOCATED has a reason.
  if (reason !== undefined || status?.every((each) => isUnallocated({ status: each })) === true) {
    // Both engines use the partial index only if the statement repeats its condition.
    const waiting: Condition = [IS_UNALLOCATED];
    const matching = reason === undefined && status?.length === 2 ? ofAmount : others;
    return read({ along: [...along, waiting], matching }, "deposits_unallocated");
  }
  return read({ along, matching: others });
}
