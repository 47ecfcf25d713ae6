import type { Engine, Read } from "../../../storage/sql/engine.js";
import type { BookFindings } from "../../findings.js";
import { decimalOf } from "../../format.js";

/**
 * What counts against the limits of an account or of a book, as its row says, and as the
 * transactions say. The sums are text, because a driver rounds large numbers.
 */
export interface AuditedUsageRow {
  readonly key: number;
  readonly id: string;
  /** The last row that the row reflects. */
  readonly last_seq: number;
  /** The time of the last row of the book. */
  readonly last_recorded_at: number;
  readonly day_from: number | null;
  readonly day_minted: string;
  readonly day_redeemed: string;
  readonly month_from: number | null;
  readonly month_minted: string;
  readonly month_redeemed: string;
  /** Null if no transaction counts. */
  readonly expected_day_minted: string | null;
  readonly expected_day_redeemed: string | null;
  readonly expected_month_minted: string | null;
  readonly expected_month_redeemed: string | null;
  /** The number of transactions that count, but were accepted after the day of the row. */
  readonly late: string | null;
}

// Repeated on purpose: an audit must not depend on the code that it audits.
const DAY_MILLIS = 86_400_000;
const OFFSET_MILLIS = 10_800_000;

/** The transactions that count. Undefined if the organization has no limits. */
export interface CountedUsage {
  /** The first row that can be about one in the month of the book. */
  readonly fromSeq: number;
  readonly since: number;
}

interface UsageQuestion {
  readonly of: "books" | "accounts";
  /** The number of the book. */
  readonly book: number;
  readonly counted: CountedUsage | undefined;
  /** Only rows after this key. */
  readonly after: number;
  readonly limit: number;
}

/**
 * Returns a SELECT of rows of `books` or `accounts` that have used something, or should have. With
 * limits it groups the month's transactions by account, once for up to 200,000 accounts: one
 * statement has one moment, while servers write.
 */
export function usageSelect({ table }: Engine, { of, book, counted, after, limit }: UsageQuestion): Read {
  const [key, id, owned] = of === "books" ? ["number", "organization_id", "number"] : ["seq", "id", "book"];
  const expected = counted === undefined ? NOTHING_EXPECTED : EXPECTED.map((name) => `e.${name}`);
  const bindings = counted === undefined ? [] : [book, counted.fromSeq, counted.since];
  const joined = counted === undefined ? "" : `LEFT JOIN (${sumsOf(table, of)}) e ON e.owner = a.${id}`;
  return {
    sql: `
      SELECT a.${key} AS key, a.${id} AS id, a.last_seq, b.last_recorded_at,
        a.day_from, CAST(a.day_minted_cents AS TEXT) AS day_minted, CAST(a.day_redeemed_cents AS TEXT) AS day_redeemed,
        a.month_from, CAST(a.month_minted_cents AS TEXT) AS month_minted,
        CAST(a.month_redeemed_cents AS TEXT) AS month_redeemed, ${expected.join(", ")}
      FROM ${table(of)} a JOIN ${table("books")} b ON b.number = a.${owned} ${joined}
      WHERE a.${owned} = ? AND a.${key} > ? AND (a.day_from IS NOT NULL OR a.month_from IS NOT NULL
        OR a.day_minted_cents <> 0 OR a.day_redeemed_cents <> 0 OR a.month_minted_cents <> 0
        OR a.month_redeemed_cents <> 0 ${counted === undefined ? "" : "OR e.late IS NOT NULL"})
      ORDER BY a.${key} LIMIT ?`,
    bindings: [...bindings, book, after, limit],
  };
}

const EXPECTED = [
  "expected_day_minted",
  "expected_day_redeemed",
  "expected_month_minted",
  "expected_month_redeemed",
  "late",
] as const satisfies readonly (keyof AuditedUsageRow)[];
const NOTHING_EXPECTED = EXPECTED.map((name) => `NULL AS ${name}`);

/** The sums of what counts, by owner. Parameters: the book, its first row, the first time. */
function sumsOf(table: Engine["table"], of: UsageQuestion["of"]): string {
  const owner = of === "books" ? "o.organization_id" : "o.id";
  const sum = (type: string, from: string): string =>
    `CAST(SUM(CASE WHEN t.type = '${type}' AND t.created_at >= COALESCE(o.${from}, 0) THEN t.amount_cents ELSE 0 END) AS TEXT)`;
  return `
    SELECT ${owner} AS owner,
      ${sum("MINT", "day_from")} AS expected_day_minted, ${sum("REDEEM", "day_from")} AS expected_day_redeemed,
      ${sum("MINT", "month_from")} AS expected_month_minted, ${sum("REDEEM", "month_from")} AS expected_month_redeemed,
      CAST(SUM(CASE WHEN t.created_at >= COALESCE(o.day_from, 0) + ${String(DAY_MILLIS)} THEN 1 ELSE 0 END) AS TEXT) AS late
    FROM ${table("transactions")} t JOIN ${table(of)} o ON ${of === "books" ? "o.number = t.book" : "o.id = t.account_id"}
    WHERE t.book = ? AND t.seq >= ? AND t.created_at >= ? AND t.corrects_id IS NULL AND t.reversed_by_id IS NULL
      AND t.status NOT IN ('FAILED', 'CANCELED')
    GROUP BY ${owner}`;
}

interface CheckedUsage {
  readonly table: "books" | "accounts";
  readonly findings: BookFindings;
  /** The month of the book. What an account counted before is over. */
  readonly monthFrom: number | null;
}

export function checkUsage(row: AuditedUsageRow, { table, findings, monthFrom }: CheckedUsage): void {
  const place = { seq: row.last_seq, table, id: row.id } as const;
  const { day_from: day, month_from: month } = row;
  const isPeriod = day === null ? month === null : isDayInMonth(day, month) && day <= row.last_recorded_at;
  if (!isPeriod) {
    const found = `day_from ${String(day)}, month_from ${String(month)}`;
    findings.add(place, { expected: "a day of the past and its month, or none", found });
  }
  if ((row.late ?? "0") !== "0") {
    findings.add(place, { expected: "the day of the last transaction that counts", found: `day_from ${String(day)}` });
  }
  const isOver = month !== null && month < (monthFrom ?? 0);
  if (isOver) return;
  const sums = (minted: string | null, redeemed: string | null): string =>
    `minted ${decimalOf(minted ?? "0")}, redeemed ${decimalOf(redeemed ?? "0")}`;
  findings.compare(place, {
    expected: `in the day ${sums(row.expected_day_minted, row.expected_day_redeemed)}`,
    found: `in the day ${sums(row.day_minted, row.day_redeemed)}`,
  });
  findings.compare(place, {
    expected: `in the month ${sums(row.expected_month_minted, row.expected_month_redeemed)}`,
    found: `in the month ${sums(row.month_minted, row.month_redeemed)}`,
  });
}

function isDayInMonth(day: number, month: number | null): boolean {
  const local = new Date(day + OFFSET_MILLIS);
  const first = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), 1) - OFFSET_MILLIS;
  return (day + OFFSET_MILLIS) % DAY_MILLIS === 0 && month === first;
}
