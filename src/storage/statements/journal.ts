import { DECIDING_KINDS, type JournalKind } from "../../domain/journal.js";
import type { AccountId, ApiKeyId, TransactionId } from "../../domain/values/ids.js";
import { CLOSINGS } from "../../model/transactions.js";
import type { JournalListRow, JournalPage, JournalRequest, Looked } from "../../statements/ports.js";
import { apiKeyColumn, ENDS, STEPS } from "../events/event-rows.js";
import { createdIn } from "../lists/first-seq-from.js";
import {
  columnIn,
  type Condition,
  type ListQuery,
  type ListReader,
  LOOKED_AT_MAX,
  pageOf,
  readPage,
} from "../lists/page.js";
import type { Engine } from "../sql/engine.js";
import { nearestMark, newestRow } from "./account-walk.js";
import { lineColumns, lineOf, type LineRow, withAdjusted } from "./lines.js";

/** The characters of the id of an operator. */
const OPERATOR_ID_LENGTH = 30;

interface JournalList extends JournalRequest {
  readonly book: number;
}

/** The rows of a page, newest first. */
interface FoundRows {
  readonly seqs: readonly number[];
  readonly nextBeforeSeq: number | undefined;
  readonly lookedAt: number;
}

/**
 * Reads one page of a journal, newest first. The first statement finds the rows along an index or
 * a chain, and the second reads each by its primary key.
 */
export async function journalPage(reader: ListReader, engine: Engine, list: JournalList): Promise<Looked<JournalPage>> {
  const { fromSeq = 1, toSeq = list.endSeq } = await createdIn(reader, engine, list);
  const range = { startSeq: Math.max(list.startSeq, fromSeq), endSeq: Math.min(list.endSeq, toSeq) };
  const { seqs, nextBeforeSeq, lookedAt } = await find(reader, engine, { ...list, ...range });
  const rows = seqs.length === 0 ? [] : await rowsAt(reader, engine, { book: list.book, seqs });
  const shown = rows.filter(({ kind }) => list.types?.includes(kind) !== false);
  const page = pageOf(shown, list, nextBeforeSeq);
  return { result: page, lookedAt };
}

function find(reader: ListReader, engine: Engine, list: JournalList): Promise<FoundRows> {
  const { accountId, transactionId, operatorId, own } = list.filter;
  if (accountId !== undefined) return ofAccount(reader, engine, list, accountId);
  if (transactionId !== undefined) return ofTransaction(reader, engine, list, transactionId);
  if (operatorId !== undefined) {
    // Two persons stand in one column. So the page passes over what other operators did.
    const ofPerson = `substr(actor, 1, ${String(OPERATOR_ID_LENGTH)}) = ? OR substr(actor, ${String(OPERATOR_ID_LENGTH + 2)}) = ?`;
    return along(reader, engine, list, {
      index: "journal_operator_rows",
      condition: ["substr(j.actor, 1, 4) = 'opr_'"],
      matching: [[`(${ofPerson})`, operatorId, operatorId]],
    });
  }
  if (own === true) {
    return along(reader, engine, list, { index: "journal_own_rows", condition: ["j.account_id IS NULL"] });
  }
  if (list.types?.every((kind) => DECIDING.has(kind)) === true) {
    return along(reader, engine, list, { index: "journal_deciding", condition: [`j.kind IN (${DECIDING_LIST})`] });
  }
  // A book has twelve in a year, so they are sorted.
  if (list.types?.every((kind) => kind === "month.closed") === true) {
    return along(reader, engine, list, { index: "journal_closed_months", condition: [`j.${CLOSINGS}`] });
  }
  return along(reader, engine, list, {});
}

const DECIDING: ReadonlySet<JournalKind> = new Set(DECIDING_KINDS);
/** The literal list of the index `journal_deciding`. */
const DECIDING_LIST = DECIDING_KINDS.map((kind) => `'${kind}'`).join(", ");

interface Way {
  readonly index?: string;
  /** The condition of the index, in its own words: both engines use it only then. */
  readonly condition?: Condition;
  readonly matching?: readonly Condition[];
}

async function along(
  reader: ListReader,
  engine: Engine,
  { book, startSeq, endSeq, types, size, beforeSeq = endSeq }: JournalList,
  { index, condition, matching = [] }: Way,
): Promise<FoundRows> {
  const query: ListQuery = {
    book,
    columns: "j.seq, j.actor, j.kind",
    shown: "seq",
    from: `${engine.table("journal")} j${index === undefined ? "" : engine.indexedBy(index)}`,
    seq: "j.seq",
    along: [["j.book = ?", book], ["j.seq >= ?", startSeq], ...(condition === undefined ? [] : [condition])],
    matching: [...matching, ...columnIn("kind", types)],
  };
  const page = await readPage<{ readonly seq: number }>(reader, engine, { query, page: { size, beforeSeq } });
  return { ...page, seqs: page.rows.map(({ seq }) => seq) };
}

type WalkedJournalRow = Pick<LineRow, "seq" | "previous_seq">;

/** Walks back along the rows of an account. Looks at 500 at most. */
async function ofAccount(
  reader: ListReader,
  engine: Engine,
  { book, startSeq, endSeq, size, beforeSeq }: JournalList,
  accountId: AccountId,
): Promise<FoundRows> {
  const journal = engine.table("journal");
  const last =
    beforeSeq === undefined
      ? endSeq === Number.MAX_SAFE_INTEGER
        ? newestRow(engine, { book, accountId })
        : nearestMark(engine, { book, accountId, seq: endSeq - 1 })
      : { sql: `SELECT l.previous_seq FROM ${journal} l WHERE l.book = ? AND l.seq = ?`, bindings: [book, beforeSeq] };
  const isShown = "CASE WHEN j.seq < ? THEN 1 ELSE 0 END";
  const walked = await reader.rows<WalkedJournalRow>(
    `WITH RECURSIVE walk (seq, previous_seq, looked_at, shown) AS (
       SELECT j.seq, j.previous_seq, 1, ${isShown} FROM ${journal} j
       WHERE j.book = ? AND j.seq = (${last.sql}) AND j.account_id = ? AND j.seq >= ?
       UNION ALL
       SELECT j.seq, j.previous_seq, walk.looked_at + 1, walk.shown + ${isShown} FROM walk CROSS JOIN ${journal} j
       WHERE j.book = ? AND j.seq = walk.previous_seq AND j.seq >= ? AND walk.looked_at < ? AND walk.shown < ?
     )
     SELECT seq, previous_seq FROM walk ORDER BY looked_at`,
    [endSeq, book, ...last.bindings, accountId, startSeq, endSeq, book, startSeq, LOOKED_AT_MAX, size],
  );
  const oldest = walked.at(-1);
  const isLast = oldest === undefined || (oldest.previous_seq ?? 0) < startSeq;
  return {
    seqs: walked.map(({ seq }) => seq).filter((seq) => seq < endSeq),
    nextBeforeSeq: isLast ? undefined : oldest.seq,
    lookedAt: walked.length,
  };
}

/** Finds the row that began a transaction, those of its steps, and the one that ended it. */
async function ofTransaction(
  reader: ListReader,
  { table, indexedBy, unionPart }: Engine,
  { book, startSeq, endSeq, size, beforeSeq = endSeq }: JournalList,
  id: TransactionId,
): Promise<FoundRows> {
  // A row that began and ended the transaction is found twice.
  const limit = size + 2;
  const within = "j.seq >= ? AND j.seq < ?";
  // The addition keeps PostgreSQL off the primary key. It would walk along it in a book that its
  // statistics lack: 25 ms in place of 0.1 in a book of 100,000 rows.
  const ofBook = "j.book + 0 = ?";
  const part = (index: string, kinds: string): string =>
    `SELECT j.seq FROM ${table("journal")} j${indexedBy(index)}
     WHERE j.transaction_id = ? AND j.kind ${kinds} AND ${ofBook} AND ${within}`;
  const parts = [
    part("journal_transaction_steps", `IN ${STEPS}`),
    part("journal_terminal_rows", `IN ${ENDS}`),
    part("journal_resolutions", "= 'transaction.resolution_proposed'"),
    `SELECT j.seq FROM ${table("transactions")} j WHERE j.id = ? AND ${ofBook} AND ${within}`,
  ];
  const union = parts.map((select) => unionPart(select, { order: "seq DESC", limit })).join(" UNION ALL ");
  const found = await reader.rows<{ readonly seq: number }>(`${union} ORDER BY seq DESC LIMIT ?`, [
    ...parts.flatMap(() => [id, book, startSeq, beforeSeq]),
    limit,
  ]);
  const seqs = [...new Set(found.map(({ seq }) => seq))];
  const shown = seqs.slice(0, size);
  return { seqs: shown, nextBeforeSeq: seqs.length > size ? shown.at(-1) : undefined, lookedAt: found.length };
}

type JournalSqlRow = LineRow & { readonly key_id: string | null };

/** Returns the rows, newest first. */
async function rowsAt(
  reader: ListReader,
  engine: Engine,
  { book, seqs }: { readonly book: number; readonly seqs: readonly number[] },
): Promise<readonly JournalListRow[]> {
  const { table, input } = engine;
  const rows = await reader.rows<JournalSqlRow>(
    `SELECT ${lineColumns(engine, "j")}, ${apiKeyColumn({ table })} AS key_id
     FROM ${input({ seq: "int64" })} CROSS JOIN ${table("journal")} j
       LEFT JOIN ${table("transactions")} t ON t.id = j.transaction_id
     WHERE j.book = ? AND j.seq = input.seq`,
    [JSON.stringify(seqs.map((seq) => ({ seq }))), book],
  );
  const lines = rows
    .map((row) => ({ ...lineOf(row), keyId: (row.key_id ?? undefined) as ApiKeyId | undefined }))
    .sort((left, right) => right.seq - left.seq);
  return withAdjusted(reader, engine, { book, lines });
}
