import type { RailAccountId } from "../../domain/payment.js";
import type { Cell } from "../database.js";
import { orStoreError } from "../sql/store-error.js";
import type { StoredBalance } from "./rail-accounts.js";

type BalancesCell = Pick<Cell, "engine" | "transact"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/**
 * Notes which question about a balance stands. It replaces an earlier one, whose answer is late.
 */
export async function noteQuestion(
  { engine, transact }: Pick<Cell, "engine" | "transact">,
  id: RailAccountId,
  question: string,
): Promise<void> {
  const sql = `UPDATE ${engine.table("rail_accounts")} SET balance_question = ? WHERE id = ? RETURNING id`;
  await orStoreError(
    engine,
    transact((session) => session.read({ sql, bindings: [question, id] })),
  );
}

/** Returns the account whose question this is, if it stands. */
export async function accountOfQuestion(
  { engine, reader }: Omit<BalancesCell, "transact">,
  question: string,
): Promise<RailAccountId | undefined> {
  const sql = `SELECT id FROM ${engine.table("rail_accounts")} WHERE balance_question = ?`;
  const [row] = await orStoreError(engine, reader.rows<{ readonly id: RailAccountId }>(sql, [question]));
  return row?.id;
}

/** Stores the answer to a question. Resolves with false if the question does not stand any more. */
export async function noteBalance(
  { engine, transact }: Pick<Cell, "engine" | "transact">,
  { id, question }: { readonly id: RailAccountId; readonly question: string },
  { json, at }: StoredBalance,
): Promise<boolean> {
  const sql = `
    UPDATE ${engine.table("rail_accounts")} SET balance = ?, balance_at = ?, balance_question = NULL
    WHERE id = ? AND balance_question = ? RETURNING id`;
  const rows = await orStoreError(
    engine,
    transact((session) => session.read({ sql, bindings: [json, at, id, question] })),
  );
  return rows.length > 0;
}
