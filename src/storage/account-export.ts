import type { Account } from "../domain/account.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId } from "../domain/values/ids.js";
import type { Cell } from "./database.js";
import type { OpenBook } from "./sql/book-directory.js";
import type { Engine } from "./sql/engine.js";
import {
  type AccountRow,
  accountWithPersonOf,
  type PersonRow,
  type ReadTransactionRow,
  transactionOf,
  withBalanceAfter,
} from "./sql/rows.js";
import type { Snapshot } from "./sql/snapshot.js";
import { orStoreError } from "./sql/store-error.js";

/** A row of the journal, as both drivers read it. */
export interface JournalExportRow {
  readonly seq: number;
  readonly previous_seq: number | null;
  readonly transaction_id: string | null;
  readonly kind: string;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly amount_cents: number | null;
  readonly available_after_cents: number;
  readonly held_after_cents: number;
  readonly actor: string;
  readonly reason: string;
  readonly recorded_at: number;
  readonly content_hash: Buffer;
}

/**
 * Takes the parts of an export, in this order: the account, its transactions, its journal rows. The
 * export waits for each promise, so a slow receiver does not fill the memory.
 */
export interface ExportReceiver {
  readonly account: (account: Account) => Promise<void>;
  readonly transaction: (transaction: Transaction) => Promise<void>;
  readonly journalRow: (row: JournalExportRow) => Promise<void>;
}

/**
 * Reads everything that is stored about an account's user, with the personal data decrypted.
 * Transactions and journal rows come newest first. Reads one snapshot; the memory that it uses does
 * not grow with the account. Returns false if the account does not exist.
 *
 * Open the database without a statement timeout. Rejects with a StoreError if the database fails.
 */
export function exportAccount(
  { reader, engine, directory }: Pick<Cell, "reader" | "engine" | "directory">,
  { organizationId, accountId }: { readonly organizationId: OrganizationId; readonly accountId: AccountId },
  receiver: ExportReceiver,
): Promise<boolean> {
  const work = async (): Promise<boolean> => {
    const [book] = await directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
    if (book === undefined) return false;
    return reader.snapshot((snapshot) => exportFrom(snapshot, { engine, book, accountId, receiver }));
  };
  return orStoreError(engine, work());
}

interface Export {
  readonly engine: Engine;
  readonly book: OpenBook;
  readonly accountId: AccountId;
  readonly receiver: ExportReceiver;
}

async function exportFrom(snapshot: Snapshot, { engine, book, accountId, receiver }: Export): Promise<boolean> {
  const { account, transactions, journal } = exportStatements(engine);
  const bindings = [accountId, book.number, book.number, book.number];
  const accounts = snapshot.rows<AccountRow & PersonRow>(account, [accountId, book.number]);
  const row = await accounts.next();
  if (row === undefined) return false;
  await receiver.account(accountWithPersonOf(row, book));

  const transactionRows = snapshot.rows<ReadTransactionRow>(transactions, bindings);
  for (let next = await transactionRows.next(); next !== undefined; next = await transactionRows.next()) {
    await receiver.transaction(transactionOf(next, book));
  }
  const journalRows = snapshot.rows<JournalExportRow>(journal, bindings);
  for (let next = await journalRows.next(); next !== undefined; next = await journalRows.next()) {
    await receiver.journalRow(next);
  }
  return true;
}

/**
 * The statements walk back along the links of the account's journal rows (docs/adr/0011). The walk
 * itself collects the columns: after another join its rows would have no order.
 *
 * Parameters: the account and its book; for a walk then the book twice.
 */
function exportStatements(engine: Engine) {
  const { table } = engine;
  const walk = (columns: string, joined = ""): string => `
    WITH RECURSIVE walk AS (
      SELECT j.previous_seq AS link, ${columns} FROM ${table("accounts")} a CROSS JOIN ${table("journal")} j ${joined}
      WHERE a.id = ? AND a.book = ? AND j.book = ? AND j.seq = a.last_seq
      UNION ALL
      SELECT j.previous_seq, ${columns} FROM walk CROSS JOIN ${table("journal")} j ${joined}
      WHERE j.book = ? AND j.seq = walk.link
    )`;
  return {
    account: `
      SELECT a.*, h.user_id, h.phone_number, h.email
      FROM ${table("accounts")} a JOIN ${table("account_holders")} h ON h.account_id = a.id
      WHERE a.id = ? AND a.book = ?`,
    transactions: `
      ${walk("t.*", `LEFT JOIN ${table("transactions")} t ON t.book = j.book AND t.seq = j.seq`)}
      SELECT ${withBalanceAfter(engine, "walk")} FROM walk WHERE id IS NOT NULL`,
    journal: `${walk("j.*")} SELECT * FROM walk`,
  };
}
