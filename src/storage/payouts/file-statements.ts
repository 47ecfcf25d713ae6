import { DEBITS_OF_ACCOUNTS } from "../../model/transactions.js";
import type { Engine } from "../sql/engine.js";
import { approvedByColumn } from "../sql/records/payout-file-rows.js";
import { USAGE_NAMES } from "../sql/records/sum-columns.js";
import { withBalanceAfter } from "../sql/records/transaction-rows.js";

type FileStatement =
  | "touch"
  | "file"
  | "approved"
  | "running"
  | "head"
  | "outcomes"
  | "parts"
  | "transactions"
  | "statuses"
  | "accounts"
  | "destinations"
  | "recent";

/** The statements about files of payouts that operators store and read. */
export function fileStatements(engine: Engine): Readonly<Record<FileStatement, string>> {
  const { table, jsonItems, indexedBy } = engine;
  const parts = table("payout_parts");
  const approvedBy = approvedByColumn({ table });
  const usage = USAGE_NAMES.map((name) => `a.${name}`).join(", ");
  const accounts = `
    SELECT h.account_id, h.user_id, h.phone_number, a.available_cents, a.tier, ${usage}
    FROM ${table("account_holders")} h JOIN ${table("accounts")} a ON a.id = h.account_id`;
  return {
    // A file that is proposed again is kept as long as a new one.
    touch: `UPDATE ${parts} SET stored_at = ? WHERE book = ? AND rows_sha256 = ? AND part = ? RETURNING part`,
    file: `SELECT f.*, ${approvedBy} FROM ${table("payout_files")} f WHERE f.book = ? AND f.sha256 = ?`,
    approved: `
      SELECT f.*, ${approvedBy} FROM ${table("payout_files")} f
      WHERE f.book = ? AND f.seq < ? ORDER BY f.seq DESC LIMIT ?`,
    // The partial index has the parts that have not run. There are few, or none.
    running: `
      SELECT f.* FROM ${table("payout_files")} f
      JOIN (SELECT DISTINCT rows_sha256, file_sha256 FROM ${parts} WHERE book = ? AND part > 0 AND outcomes IS NULL) o
        ON o.file_sha256 = f.sha256 AND o.rows_sha256 = f.rows_sha256
      WHERE f.book = ? ORDER BY f.seq LIMIT ?`,
    // The approved one, or else the newest that is complete.
    head: `
      SELECT p.*, (
        SELECT COUNT(*) FROM ${parts} o WHERE o.book = p.book AND o.rows_sha256 = p.rows_sha256 AND o.part > 0
      ) AS parts
      FROM ${parts} p
      LEFT JOIN ${table("payout_files")} f ON f.book = p.book AND f.sha256 = ? AND f.rows_sha256 = p.rows_sha256
      WHERE p.book = ? AND p.file_sha256 = ? AND p.part = 0
      ORDER BY CASE WHEN f.sha256 IS NULL THEN 1 ELSE 0 END, p.stored_at DESC LIMIT 1`,
    outcomes: `
      SELECT outcomes FROM ${parts} WHERE book = ? AND rows_sha256 = ? AND part > 0 AND outcomes IS NOT NULL`,
    parts: `
      SELECT * FROM ${parts} WHERE book = ? AND rows_sha256 = ? AND part >= ? ORDER BY part LIMIT ?`,
    transactions: `
      SELECT ${withBalanceAfter(engine)} FROM ${table("transactions")} t
      WHERE t.reference IN (SELECT value FROM ${jsonItems("?")}) AND t.book = ?`,
    statuses: `
      SELECT t.status, COUNT(*) AS count FROM ${table("transactions")} t
      WHERE t.reference IN (SELECT value FROM ${jsonItems("?")}) AND t.book = ? GROUP BY t.status`,
    accounts: `
      ${accounts} WHERE h.account_id IN (SELECT value FROM ${jsonItems("?")}) AND h.book = ?
      UNION ALL
      ${accounts} WHERE h.user_id IN (SELECT value FROM ${jsonItems("?")}) AND h.book = ? AND h.is_open = 1`,
    destinations: `
      SELECT * FROM ${table("destinations")}
      WHERE account_id IN (SELECT value FROM ${jsonItems("?")}) AND removed_at IS NULL`,
    // The index has the rows that took from an account: of a redemption, that which accepted it.
    recent: `
      SELECT t.id, t.account_id, t.destination_id, t.amount_cents, t.reference, t.created_at
      FROM ${table("journal")} j${indexedBy("journal_account_debits")}
      JOIN ${table("transactions")} t ON t.id = j.transaction_id AND t.seq = j.seq
      WHERE j.account_id IN (SELECT value FROM ${jsonItems("?")}) AND j.seq >= ? AND ${DEBITS_OF_ACCOUNTS}
        AND t.type = 'REDEEM' AND t.corrects_id IS NULL AND t.status NOT IN ('FAILED', 'CANCELED')`,
  };
}
