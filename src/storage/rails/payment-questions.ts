import type { LedgerAccount } from "../../domain/account.js";
import type { BookHead } from "../../domain/book.js";
import type { RailAccountId } from "../../domain/payment.js";
import { readDepositReference } from "../../domain/values/deposit-reference.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { Cell } from "../database.js";
import { type AccountRow, ledgerAccountOf } from "../sql/records/account-rows.js";
import { bookHeadOf, type BookRow } from "../sql/records/book-head-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** What a rail's question about a payment is about. */
export interface AskedAccount {
  readonly head: BookHead;
  /** Undefined if the reference names none. */
  readonly account: LedgerAccount | undefined;
}

/**
 * Finds the account of a reference in the book of the rail account's organization. Undefined if
 * nobody has registered the rail account for deposits. Reads two rows, and waits for no commit.
 */
export async function accountOfReference(
  { engine, reader }: Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  id: RailAccountId,
  typed: string,
): Promise<AskedAccount | undefined> {
  const { table } = engine;
  const bookSql = `
    SELECT b.* FROM ${table("rail_accounts")} a JOIN ${table("books")} b ON b.organization_id = a.organization_id
    WHERE a.id = ? AND a.deposits_since IS NOT NULL`;
  const [book] = await orStoreError(engine, reader.rows<Omit<BookRow, "begun_at">>(bookSql, [id]));
  if (book === undefined) return undefined;
  const head = bookHeadOf({ ...book, begun_at: null });
  const reference = readDepositReference(typed);
  if (reference === undefined) return { head, account: undefined };
  const accountSql = `SELECT * FROM ${table("accounts")} WHERE book = ? AND deposit_reference = ?`;
  const [row] = await orStoreError(engine, reader.rows<AccountRow>(accountSql, [book.number, reference]));
  const organizationId = book.organization_id as OrganizationId;
  return { head, account: row && ledgerAccountOf(row, { organizationId }) };
}
