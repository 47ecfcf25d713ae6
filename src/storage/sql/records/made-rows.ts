import type { RowOf } from "../../../model/column.js";
import { type JOURNAL, TRANSACTION_STEPS } from "../../../model/transactions.js";
import { contentHash } from "../../secrets/book-keys.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";

type MakingRow = RowOf<typeof JOURNAL>;

/** What the journal row that made a row says. All are null if there is none. */
export interface MadeRow {
  readonly seq: number;
  readonly made_kind: MakingRow["kind"] | null;
  readonly made_at: MakingRow["recorded_at"] | null;
  readonly made_account_id: MakingRow["account_id"];
  readonly made_detail: MakingRow["detail"];
  readonly made_receipt: MakingRow["rail_receipt"];
  /** In hexadecimal. */
  readonly made_hash: string | null;
}

/** Returns the columns of `MadeRow`, of the table of `madeBy`. */
function madeColumns({ hex }: Engine): string {
  return `made.kind AS made_kind, made.recorded_at AS made_at, made.account_id AS made_account_id,
    made.detail AS made_detail, made.rail_receipt AS made_receipt, ${hex("made.content_hash")} AS made_hash`;
}

/** A transaction also has what the rows of the journal about it give. */
export interface MadeTransactionRow extends MadeRow {
  readonly status_by_journal: string;
  /** Why it is held, as `held_for` says it. Null if it is not. */
  readonly hold_by_journal: string | null;
}

/** Returns the columns of `MadeTransactionRow`, of the table `t` and that of `madeBy`. */
export function madeTransactionColumns(engine: Engine): string {
  // Both engines use a partial index only if the statement repeats its condition.
  const rows = `SELECT substr(s.kind, 13) FROM ${engine.table("journal")} s WHERE s.transaction_id = t.id AND s.kind IN`;
  return `${madeColumns(engine)}, upper(COALESCE(
    (${rows} ('transaction.completed', 'transaction.failed', 'transaction.canceled')),
    (${rows} ${TRANSACTION_STEPS} AND s.kind = 'transaction.processing' LIMIT 1),
    'pending')) AS status_by_journal,
    CASE WHEN t.status = 'PENDING' THEN (
      SELECT CASE s.kind WHEN 'transaction.held' THEN s.detail END FROM ${engine.table("journal")} s
      WHERE s.transaction_id = t.id AND s.kind IN ${TRANSACTION_STEPS}
        AND s.kind IN ('transaction.held', 'transaction.released') ORDER BY s.seq DESC LIMIT 1
    ) END AS hold_by_journal`;
}

/** A deposit also has the mint that credits it, if one stands. */
export interface MadeDepositRow extends MadeRow {
  readonly credit_id: string | null;
}

/** Returns the columns of `MadeDepositRow`, of the table `d` and that of `madeBy`. */
export function madeDepositColumns(engine: Engine): string {
  // The condition is that of the index `transactions_credits`.
  return `${madeColumns(engine)}, (
    SELECT m.id FROM ${engine.table("transactions")} m
    WHERE m.deposit_id = d.id AND m.deposit_id IS NOT NULL AND m.type = 'MINT' AND m.reversed_by_id IS NULL
  ) AS credit_id`;
}

/** Returns a join: the journal row that made the row of `alias`. */
export function madeBy({ table }: Engine, alias: string): string {
  return `LEFT JOIN ${table("journal")} made ON made.book = ${alias}.book AND made.seq = ${alias}.seq`;
}

/**
 * Returns whether the content of the row has the hash that the journal has of it. Nobody who has
 * the database alone can compute it: its salt needs a key of the book (docs/adr/0072).
 */
export function isAsMade(
  row: MadeRow,
  { salts }: Pick<OpenBook, "salts">,
  { content, movement, ...of }: MadeContent,
): boolean {
  const { made_kind: kind, made_at: recordedAt, made_detail: detail, made_receipt: receipt } = row;
  if (kind === null || recordedAt === null) return false;
  const proofs = [detail, receipt, kind === "transaction.completed" ? (movement ?? null) : null];
  const own = proofs.every((proof) => proof === null) ? [] : proofs.map((proof) => proof ?? "");
  const created = [...content, ...own];
  return contentHash(salts.of(row.seq), { kind, recordedAt, created, ...of }) === row.made_hash;
}

interface MadeContent {
  readonly transactionId: string | null;
  readonly accountId: string | null;
  readonly content: readonly string[];
  readonly movement?: string | undefined;
}
