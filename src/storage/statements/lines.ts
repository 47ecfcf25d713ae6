import type { BookAccount, JournalKind } from "../../domain/journal.js";
import { contentOfRow } from "../../domain/row-content.js";
import { toCents } from "../../domain/values/cents.js";
import type { AccountId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { JOURNAL } from "../../model/transactions.js";
import { ACCOUNT_MARK_ROWS } from "../../statements/mark-ports.js";
import type { BookLine, LinesPage, LinesRequest, Looked } from "../../statements/ports.js";
import { DEPOSIT_ID_LENGTH, ENDS } from "../events/event-rows.js";
import { fitting, type ListReader } from "../lists/page.js";
import type { Engine, Read } from "../sql/engine.js";
import { newestRow } from "./account-walk.js";

/** The maximum number of rows that a read forward along a book looks at. */
const FORWARD_MAX = 256;

export type LineRow = Pick<RowOf<typeof JOURNAL>, (typeof COLUMNS)[number]> & {
  readonly receipt: string | null;
  readonly reference: string | null;
  readonly description: string | null;
  readonly rail: string | null;
  readonly user_id: string | null;
  /** Null for "book.adjusted": its detail names the movement. */
  readonly corrected_at: number | null;
};

const COLUMNS = [
  "seq",
  "previous_seq",
  "recorded_at",
  "kind",
  "account_id",
  "transaction_id",
  "debit",
  "credit",
  "amount_cents",
  "available_after_cents",
  "held_after_cents",
  "actor",
  "reason",
  "detail",
] as const satisfies readonly (keyof RowOf<typeof JOURNAL>)[];

/** Returns the columns of a line. `j` names the journal, or a selection of its columns. */
export function lineColumns({ table }: Pick<Engine, "table">, j: string): string {
  // A receipt that came after the completion is shown with the completion, to which it belongs.
  return `${COLUMNS.map((column) => `${j}.${column}`).join(", ")},
    COALESCE(${j}.rail_receipt, CASE WHEN ${j}.kind = 'transaction.completed' THEN t.rail_receipt END) AS receipt,
    t.reference, t.description, t.rail,
    CASE WHEN t.corrects_id IS NOT NULL THEN (
      SELECT c.recorded_at FROM ${table("journal")} c WHERE c.transaction_id = t.corrects_id AND c.kind IN ${ENDS}
    ) WHEN ${j}.kind = 'deposit.reversed' THEN (
      SELECT d.created_at FROM ${table("deposits")} d WHERE d.id = substr(${j}.detail, 1, ${String(DEPOSIT_ID_LENGTH)})
    ) END AS corrected_at,
    (SELECT h.user_id FROM ${table("account_holders")} h WHERE h.account_id = ${j}.account_id) AS user_id`;
}

interface AccountRequest extends LinesRequest {
  readonly book: number;
  readonly accountId: AccountId;
}

/**
 * Reads lines of one account, oldest first. The rows of an account are linked backwards, so the
 * read takes a window that ends at a mark, and walks back to the window's start. Where marks are
 * missing and the walk would be long, it reads forward along the book, and the page is short.
 */
export async function accountLinesPage(
  reader: ListReader,
  engine: Engine,
  request: AccountRequest,
): Promise<Looked<LinesPage>> {
  const { afterSeq, toSeq, size } = request;
  if (toSeq <= afterSeq) return { result: { lines: [], nextAfterSeq: undefined }, lookedAt: 0 };
  // More rows than the page has lines lie before this mark.
  const marks = Math.ceil(size / ACCOUNT_MARK_ROWS) + 1;
  const end = await windowEnd(reader, engine, { ...request, marks });
  const lookedAtMax = marks * ACCOUNT_MARK_ROWS;
  const rows = await windowRows(reader, engine, { ...request, end, lookedAtMax });
  const oldest = rows[0];
  const isWhole = oldest === undefined || (oldest.previous_seq ?? 0) <= afterSeq;
  if (!isWhole) return forwardPage(reader, engine, request);
  const coveredSeq = end === undefined || end >= toSeq ? undefined : end;
  const lines = linesOf(rows.filter(({ seq }) => seq <= toSeq));
  return { result: cut(lines, { size, coveredSeq }), lookedAt: rows.length };
}

function cut(
  lines: readonly BookLine[],
  { size, coveredSeq }: { readonly size: number; readonly coveredSeq: number | undefined },
): LinesPage {
  if (lines.length <= size) return { lines, nextAfterSeq: coveredSeq };
  const page = lines.slice(0, size);
  return { lines: page, nextAfterSeq: page.at(-1)?.seq };
}

async function windowEnd(
  reader: ListReader,
  { table }: Engine,
  { book, accountId, afterSeq, marks }: AccountRequest & { readonly marks: number },
): Promise<number | undefined> {
  const [mark] = await reader.rows<{ readonly seq: number }>(
    `SELECT m.seq FROM ${table("account_marks")} m WHERE m.account_id = ? AND m.book = ? AND m.seq > ?
     ORDER BY m.seq LIMIT 1 OFFSET ?`,
    [accountId, book, afterSeq, marks - 1],
  );
  return mark?.seq;
}

async function windowRows(
  reader: ListReader,
  engine: Engine,
  {
    book,
    accountId,
    afterSeq,
    end,
    lookedAtMax,
  }: AccountRequest & { readonly end: number | undefined; readonly lookedAtMax: number },
): Promise<readonly LineRow[]> {
  const { table } = engine;
  const start: Read =
    end === undefined ? newestRow(engine, { book, accountId }) : { sql: "CAST(? AS BIGINT)", bindings: [end] };
  const columns = [...COLUMNS, "rail_receipt"].map((column) => `j.${column}`).join(", ");
  return reader.rows<LineRow>(
    `WITH RECURSIVE walk AS (
       SELECT ${columns}, 1 AS looked_at FROM ${table("journal")} j
       WHERE j.book = ? AND j.seq = (${start.sql}) AND j.account_id = ? AND j.seq > ?
       UNION ALL
       SELECT ${columns}, walk.looked_at + 1 FROM walk CROSS JOIN ${table("journal")} j
       WHERE j.book = ? AND j.seq = walk.previous_seq AND j.seq > ? AND walk.looked_at < ?
     )
     SELECT ${lineColumns(engine, "walk")} FROM walk LEFT JOIN ${table("transactions")} t ON t.id = walk.transaction_id
     ORDER BY walk.seq`,
    [book, ...start.bindings, accountId, afterSeq, book, afterSeq, lookedAtMax],
  );
}

/** Reads the account's lines among the next rows of the book. */
async function forwardPage(
  reader: ListReader,
  engine: Engine,
  { book, accountId, afterSeq, toSeq, size }: AccountRequest,
): Promise<Looked<LinesPage>> {
  const { table } = engine;
  const rows = await reader.rows<LineRow>(
    `SELECT ${lineColumns(engine, "j")} FROM ${table("journal")} j LEFT JOIN ${table("transactions")} t ON t.id = j.transaction_id
     WHERE j.book = ? AND j.seq > ? AND j.seq <= ? AND j.account_id = ? ORDER BY j.seq`,
    [book, afterSeq, Math.min(afterSeq + FORWARD_MAX, toSeq), accountId],
  );
  const coveredSeq = afterSeq + FORWARD_MAX < toSeq ? afterSeq + FORWARD_MAX : undefined;
  return { result: cut(linesOf(rows), { size, coveredSeq }), lookedAt: FORWARD_MAX };
}

/** Reads the next lines of the book. A page has at most 256. */
export async function bookLinesPage(
  reader: ListReader,
  engine: Engine,
  { book, afterSeq, toSeq, size }: Omit<AccountRequest, "accountId">,
): Promise<Looked<LinesPage>> {
  const lastSeq = Math.min(afterSeq + Math.min(size, FORWARD_MAX), toSeq);
  const rows = await reader.rows<LineRow>(
    `SELECT ${lineColumns(engine, "j")}
     FROM ${engine.table("journal")} j LEFT JOIN ${engine.table("transactions")} t ON t.id = j.transaction_id
     WHERE j.book = ? AND j.seq > ? AND j.seq <= ? ORDER BY j.seq`,
    [book, afterSeq, lastSeq],
  );
  const lines = await withAdjusted(reader, engine, { book, lines: fitting(rows).map(lineOf) });
  const coveredSeq = lines.length < rows.length ? (lines.at(-1)?.seq ?? afterSeq) : lastSeq;
  return { result: { lines, nextAfterSeq: coveredSeq < toSeq ? coveredSeq : undefined }, lookedAt: rows.length };
}

/** Returns the lines of the rows that move money of the account. */
function linesOf(rows: readonly LineRow[]): readonly BookLine[] {
  return rows.map(lineOf).filter(({ debit, credit }) => isOfAccount(debit) || isOfAccount(credit));
}

function isOfAccount(name: BookAccount | undefined): boolean {
  return name === "available" || name === "held";
}

export function lineOf(row: LineRow): BookLine {
  const { available_after_cents: availableCents, held_after_cents: heldCents } = row;
  return {
    seq: row.seq,
    recordedAt: toUnixMillis(row.recorded_at),
    kind: row.kind as JournalKind,
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    userId: row.user_id ?? undefined,
    rail: row.rail ?? undefined,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    debit: (row.debit ?? undefined) as BookAccount | undefined,
    credit: (row.credit ?? undefined) as BookAccount | undefined,
    amountCents: row.amount_cents === null ? undefined : toCents(row.amount_cents),
    balancesAfter:
      availableCents === null || heldCents === null
        ? undefined
        : { availableCents: toCents(availableCents), heldCents: toCents(heldCents) },
    receipt: row.receipt ?? "",
    reference: row.reference ?? "",
    description: row.description ?? "",
    actor: row.actor,
    note: row.reason,
    detail: row.detail ?? undefined,
    correctedAt: row.corrected_at === null ? undefined : toUnixMillis(row.corrected_at),
  };
}

/**
 * Says of each line "book.adjusted" when its movement was recorded. Only a page with such a line
 * costs a statement. A receipt that came later belongs to the end of its transaction.
 */
export async function withAdjusted<Line extends BookLine>(
  reader: ListReader,
  { table, jsonItems }: Engine,
  { book, lines }: { readonly book: number; readonly lines: readonly Line[] },
): Promise<readonly Line[]> {
  const movements = lines.flatMap((line) => movementOf(line) ?? []);
  if (movements.length === 0) return lines;
  const ended = (id: string): string =>
    `SELECT e.recorded_at FROM ${table("journal")} e WHERE e.transaction_id = ${id} AND e.kind IN ${ENDS}`;
  const found = await reader.rows<{ readonly movement: string; readonly recorded_at: number }>(
    `SELECT i.value AS movement, COALESCE((${ended("r.transaction_id")}), r.recorded_at) AS recorded_at
     FROM ${jsonItems("?")} i CROSS JOIN ${table("journal")} r WHERE r.book = ? AND r.rail_receipt = i.value
     UNION ALL
     SELECT i.value AS movement, e.recorded_at
     FROM ${jsonItems("?")} i CROSS JOIN ${table("journal")} e
     WHERE e.transaction_id = i.value AND e.kind IN ${ENDS}`,
    [JSON.stringify(movements), book, JSON.stringify(movements)],
  );
  const times = new Map(found.map(({ movement, recorded_at }) => [movement, toUnixMillis(recorded_at)]));
  return lines.map((line) => {
    const movement = movementOf(line);
    return movement === undefined ? line : { ...line, correctedAt: times.get(movement) };
  });
}

function movementOf(line: BookLine): string | undefined {
  return line.kind === "book.adjusted" ? contentOfRow(line).movement : undefined;
}
