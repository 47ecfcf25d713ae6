import type { RailAccountId } from "../../domain/payment.js";
import type { Cell } from "../database.js";
import { orStoreError, runAlone } from "../sql/store-error.js";
import type { StoredBalance } from "./rail-accounts.js";

/**
 * Notes which question about a balance stands. It replaces an earlier one, whose answer is late.
 */
export async function noteQuestion(
  cell: Pick<Cell, "engine" | "transact">,
  id: RailAccountId,
  question: string,
): Promise<void> {
  const sql = `UPDATE ${cell.engine.table("rail_accounts")} SET balance_question = ? WHERE id = ? RETURNING id`;
  await runAlone(cell, { sql, bindings: [question, id] });
}

/** Returns the account whose question this is, if it stands. */
export async function accountOfQuestion(
  { engine, reader }: Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  question: string,
): Promise<RailAccountId | undefined> {
  const sql = `SELECT id FROM ${engine.table("rail_accounts")} WHERE balance_question = ?`;
  const [row] = await orStoreError(engine, reader.rows<{ readonly id: RailAccountId }>(sql, [question]));
  return row?.id;
}

/** Stores the answer to a question. Resolves with false if the question does not stand any more. */
export async function noteBalance(
  cell: Pick<Cell, "engine" | "transact">,
  { id, question }: { readonly id: RailAccountId; readonly question: string },
  { json, at }: StoredBalance,
): Promise<boolean> {
  const sql = `
    UPDATE ${cell.engine.table("rail_accounts")} SET balance = ?, balance_at = ?, balance_question = NULL
    WHERE id = ? AND balance_question = ? RETURNING id`;
  const rows = await runAlone(cell, { sql, bindings: [json, at, id, question] });
  return rows.length > 0;
}
