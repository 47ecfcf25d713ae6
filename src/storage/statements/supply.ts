import { NO_SUMS, NO_TURNOVER, postedToBook, turnedOver } from "../../domain/book.js";
import type { BookAccount } from "../../domain/journal.js";
import { rulesFromText } from "../../domain/reserve.js";
import type { TransactionType } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import {
  type CurrentSums,
  type Looked,
  type OpenPayments,
  type OpenPaymentsCount,
  PAYMENT_AGES,
  type ReportedBalance,
  type SumsAt,
} from "../../statements/ports.js";
import type { ListReader } from "../lists/page.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { Engine } from "../sql/engine.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import {
  SUM_COLUMNS,
  type SumColumns,
  sumsOf,
  TURNOVER_COLUMNS,
  type TurnoverColumns,
  turnoverOf,
} from "../sql/records/sum-columns.js";

/** The maximum number of rows that one step towards the sums of a point adds up. */
const SUMMED_MAX = 2_048;
/** The maximum number of open payments of each status that are counted. */
const OPEN_PAYMENTS_MAX = 10_000;
const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;

const SUMS = SUM_COLUMNS.join(", ");

interface SumsRequest {
  readonly book: number;
  readonly seq: number;
  readonly from: SumsAt | undefined;
}

/** Adds the postings after the nearest mark, or after the row at which the last step ended. */
export async function sumsStep(reader: ListReader, engine: Engine, request: SumsRequest): Promise<Looked<SumsAt>> {
  const { table } = engine;
  const { book, seq } = request;
  const from = request.from ?? (await markBefore(reader, engine, { book, seq }));
  const upToSeq = Math.min(from.seq + SUMMED_MAX, seq);
  const groups = await reader.rows<{ readonly debit: string; readonly credit: string; readonly cents: string }>(
    `SELECT debit, credit, CAST(SUM(amount_cents) AS TEXT) AS cents FROM ${table("journal")}
     WHERE book = ? AND seq > ? AND seq <= ? AND amount_cents IS NOT NULL GROUP BY debit, credit`,
    [book, from.seq, upToSeq],
  );
  let { sums, turnover } = from;
  for (const { debit, credit, cents } of groups) {
    const posting = { debit: debit as BookAccount, credit: credit as BookAccount };
    sums = postedToBook(sums, { ...posting, amountCents: Number(cents) as Cents });
    turnover = turnedOver(turnover, posting, BigInt(cents));
  }
  return { result: { seq: upToSeq, sums, turnover }, lookedAt: upToSeq - from.seq };
}

async function markBefore(
  reader: ListReader,
  { table }: Engine,
  { book, seq }: { readonly book: number; readonly seq: number },
): Promise<SumsAt> {
  const [mark] = await reader.rows<SumColumns & TurnoverColumns & { readonly seq: number }>(
    `SELECT seq, ${SUMS}, ${TURNOVER_COLUMNS.map((name) => `CAST(${name} AS TEXT) AS ${name}`).join(", ")} FROM ${table("book_marks")} WHERE book = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
    [book, seq],
  );
  if (mark === undefined) return { seq: 0, sums: NO_SUMS, turnover: NO_TURNOVER };
  return { seq: mark.seq, sums: sumsOf(mark), turnover: turnoverOf(mark) };
}

type CurrentColumns = SumColumns & Pick<BookRow, "last_seq" | "last_recorded_at" | "reserve_rules">;

/** Reads the sums after the last row of a book, and the rules of its reserve. */
export async function currentSums(reader: ListReader, { table }: Engine, book: number): Promise<CurrentSums> {
  const [row] = await reader.rows<CurrentColumns>(
    `SELECT last_seq, last_recorded_at, reserve_rules, ${SUMS} FROM ${table("books")} WHERE number = ?`,
    [book],
  );
  if (row === undefined) throw new Error(`there is no book ${String(book)}`);
  return {
    seq: row.last_seq,
    recordedAt: toUnixMillis(row.last_recorded_at),
    sums: sumsOf(row),
    reserveRules: row.reserve_rules === null ? [] : rulesFromText(row.reserve_rules),
  };
}

interface OpenRow {
  readonly type: string;
  readonly age: number;
  readonly count: number;
  readonly cents: string;
  readonly oldest: number;
}

/** Counts the payments of a book that are not complete, the oldest first. */
export async function openPaymentsOf(
  reader: ListReader,
  { table, indexedBy }: Engine,
  { book, now }: { readonly book: number; readonly now: UnixMillis },
): Promise<Looked<OpenPaymentsCount>> {
  const open = `
    SELECT t.type, t.amount_cents, t.created_at FROM ${table("transactions")} t${indexedBy("transactions_not_completed")}
    WHERE t.book = ? AND t.status <> 'COMPLETED' AND t.status = ? ORDER BY t.seq LIMIT ?`;
  const sql = `
    SELECT type, CASE WHEN created_at > ? THEN 0 WHEN created_at > ? THEN 1 ELSE 2 END AS age,
      COUNT(*) AS count, CAST(SUM(amount_cents) AS TEXT) AS cents, MIN(created_at) AS oldest
    FROM (${open}) AS looked_at GROUP BY 1, 2`;
  const groups = new Map<string, OpenPayments>();
  let [lookedAt, hasMore] = [0, false];
  for (const status of ["PENDING", "PROCESSING"]) {
    const bindings = [now - HOUR_MILLIS, now - DAY_MILLIS, book, status, OPEN_PAYMENTS_MAX];
    const rows = await reader.rows<OpenRow>(sql, bindings);
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    lookedAt += count;
    hasMore ||= count === OPEN_PAYMENTS_MAX;
    for (const row of rows) addGroup(groups, row);
  }
  const order = [...groups.keys()].sort();
  return { result: { groups: order.flatMap((key) => groups.get(key) ?? []), hasMore }, lookedAt };
}

function addGroup(groups: Map<string, OpenPayments>, { type, age, count, cents, oldest }: OpenRow): void {
  const key = `${type} ${String(age)}`;
  const known = groups.get(key);
  groups.set(key, {
    type: type as TransactionType,
    age: PAYMENT_AGES[age] ?? "ONE_DAY_OR_MORE",
    count: count + (known?.count ?? 0),
    amountCents: Number(cents) + (known?.amountCents ?? 0),
    oldestCreatedAt: toUnixMillis(Math.min(oldest, known?.oldestCreatedAt ?? oldest)),
  });
}

/** Reads the rails' own form of a balance (src/rails/rail.ts), as the settlement stores it. */
export function accountsIn(
  balance: string,
): readonly { readonly name: string; readonly currency: string; readonly availableCents: number }[] {
  interface Reported {
    readonly accounts: ReturnType<typeof accountsIn>;
  }
  return readPart("the balance of an account at a rail", () => (JSON.parse(balance) as Reported).accounts);
}

/** Reads what the rails reported about the organization's accounts there. */
export async function reportedBalances(
  reader: ListReader,
  { table }: Engine,
  organizationId: OrganizationId,
): Promise<readonly ReportedBalance[]> {
  const rows = await reader.rows<{ readonly rail: string; readonly balance: string; readonly balance_at: number }>(
    `SELECT rail, balance, balance_at FROM ${table("rail_accounts")}
     WHERE organization_id = ? AND balance IS NOT NULL ORDER BY rail`,
    [organizationId],
  );
  return rows.flatMap(({ rail, balance, balance_at: at }) =>
    accountsIn(balance).map(({ name, currency, availableCents }) => ({
      rail,
      name,
      currency,
      availableCents,
      reportedAt: toUnixMillis(at),
    })),
  );
}
