import { hash } from "node:crypto";

import type { RailAccountId } from "../../domain/payment.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { RAIL_ACCOUNTS } from "../../model/rails.js";
import type { Cell } from "../database.js";
import { orStoreError, runAlone } from "../sql/store-error.js";
import type { StoredBalance } from "./rail-accounts.js";

/**
 * For so long a question without an answer may still get one: M-Pesa's came up to 85 seconds late.
 */
const ANSWER_MILLIS_MAX = 120_000;

/** A question about a balance, which uses the initiator of the account. */
export interface BalanceQuestion {
  readonly id: RailAccountId;
  readonly question: string;
  readonly at: UnixMillis;
}

/**
 * Notes a question about a balance before the rail hears it. It replaces an earlier one, whose
 * answer is late. Resolves with the question that stands: the given one, or an earlier one with the
 * same credentials whose answer may still come. The caller must not ask then: a few wrong passwords
 * lock an initiator. Undefined if the account is gone.
 */
export async function noteQuestion(
  cell: Pick<Cell, "engine" | "transact"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  { id, question, at }: BalanceQuestion,
): Promise<string | undefined> {
  const { engine, reader } = cell;
  const accounts = engine.table("rail_accounts");
  const read = `SELECT credentials, balance_question FROM ${accounts} WHERE id = ?`;
  const sql = `
    UPDATE ${accounts} SET balance_question = ?, balance_asked_at = ?, balance_asked_with = ?
    WHERE id = ? AND (balance_question IS NULL OR COALESCE(balance_asked_with, '') <> ?
      OR COALESCE(balance_asked_at, 0) NOT BETWEEN ? AND ?)
    RETURNING id`;
  const [row] = await orStoreError(engine, reader.rows<AskedRow>(read, [id]));
  if (row === undefined) return undefined;
  const { credentials } = row;
  const used = credentials === null ? "" : hash("sha256", credentials, "hex");
  const bindings = [question, at, used, id, used, at - ANSWER_MILLIS_MAX, at + ANSWER_MILLIS_MAX];
  if ((await runAlone(cell, { sql, bindings })).length > 0) return question;
  const [standing] = await orStoreError(engine, reader.rows<AskedRow>(read, [id]));
  return standing?.balance_question ?? undefined;
}

type AskedRow = Pick<RowOf<typeof RAIL_ACCOUNTS, Uint8Array>, "credentials" | "balance_question">;

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

/** Ends a question that has an answer without a balance. False if it does not stand any more. */
export async function endQuestion(
  cell: Pick<Cell, "engine" | "transact">,
  { id, question }: { readonly id: RailAccountId; readonly question: string },
): Promise<boolean> {
  const sql = `
    UPDATE ${cell.engine.table("rail_accounts")} SET balance_question = NULL
    WHERE id = ? AND balance_question = ? RETURNING id`;
  return (await runAlone(cell, { sql, bindings: [id, question] })).length > 0;
}

/** Returns the questions as the settlement notes and ends them. */
export function balanceQuestions(
  cell: Parameters<typeof noteQuestion>[0],
  now: () => UnixMillis,
): {
  readonly noteQuestion: (id: RailAccountId, question: string) => Promise<string | undefined>;
  readonly endQuestion: (id: RailAccountId, question: string) => Promise<boolean>;
} {
  return {
    noteQuestion: (id, question) => noteQuestion(cell, { id, question, at: now() }),
    endQuestion: (id, question) => endQuestion(cell, { id, question }),
  };
}
