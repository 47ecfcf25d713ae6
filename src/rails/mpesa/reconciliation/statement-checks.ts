import { formatCents } from "../../../domain/values/cents.js";
import type { StatementHead } from "./statement-head.js";

/** A completed row, as far as the file can be checked by it. */
export interface CheckedRow {
  readonly line: number;
  /** What went out is negative. */
  readonly cents: number;
  /** After the row. Undefined if the row has none. */
  readonly balanceCents: number | undefined;
}

/** The sums of a last line without a receipt. */
export interface TotalsLine {
  readonly line: number;
  readonly paidIn: number | undefined;
  readonly withdrawn: number | undefined;
}

/** Returns a sentence for each sum and each balance that the rows do not bear out. */
export function doubtsAbout(
  rows: readonly CheckedRow[],
  head: StatementHead,
  totals: TotalsLine | undefined,
): readonly string[] {
  return [...sumDoubts(rows, head, totals), ...balanceDoubts(rows, head)];
}

function sumDoubts(
  rows: readonly CheckedRow[],
  { sums }: StatementHead,
  totals: TotalsLine | undefined,
): readonly string[] {
  const paidIn = rows.reduce((sum, { cents }) => sum + Math.max(cents, 0), 0);
  const withdrawn = rows.reduce((sum, { cents }) => sum + Math.max(-cents, 0), 0);
  const said = [
    ["The head", "paid in", sums.get("total paid in"), paidIn],
    ["The head", "withdrawn", sums.get("total withdrawn"), withdrawn],
    [`Line ${String(totals?.line)}`, "paid in", totals?.paidIn, paidIn],
    [`Line ${String(totals?.line)}`, "withdrawn", totals?.withdrawn, withdrawn],
  ] as const;
  return said.flatMap(([where, what, cents, sum]) =>
    cents === undefined || Math.abs(cents) === sum
      ? []
      : [`${where} says that ${text(Math.abs(cents))} was ${what}, and the rows have ${text(sum)}.`],
  );
}

/**
 * Each row's balance follows from another row's, whatever the order of the file is: rows of one
 * second stand in any order. So each balance before a row must be the balance after another one.
 * The opening balance is left over, and the closing balance; a third one shows a missing row.
 */
function balanceDoubts(rows: readonly CheckedRow[], { sums }: StatementHead): readonly string[] {
  if (rows.length === 0 || rows.some(({ balanceCents }) => balanceCents === undefined)) return [];
  const left = new Map<number, number>();
  const count = (cents: number, by: number): void => {
    left.set(cents, (left.get(cents) ?? 0) + by);
  };
  for (const { cents, balanceCents = 0 } of rows) {
    count(balanceCents, 1);
    count(balanceCents - cents, -1);
  }
  const opening = sums.get("opening balance");
  const closing = sums.get("closing balance");
  if (opening !== undefined) count(opening, 1);
  if (closing !== undefined) count(closing, -1);
  const after = [...left].filter(([, number]) => number > 0);
  const before = [...left].filter(([, number]) => number < 0);
  const gaps = after.reduce((sum, [, number]) => sum + number, 0);
  const allowed = opening !== undefined && closing !== undefined ? 0 : 1;
  if (gaps <= allowed) return [];
  const lines = before.flatMap(([cents]) => {
    const found = rows.find(({ balanceCents = 0, cents: moved }) => balanceCents - moved === cents);
    return found === undefined ? [] : [found.line];
  });
  const named = lines
    .sort((one, other) => one - other)
    .slice(0, NAMED_MAX)
    .map(String)
    .join(", ");
  const where = named === "" ? "" : `: look beside line ${named}`;
  return [`A row is missing, or an amount was changed: the balances do not follow from each other${where}.`];
}

const NAMED_MAX = 5;

function text(cents: number): string {
  return formatCents(cents);
}
