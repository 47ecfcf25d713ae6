import { type BankColumn, type BankDateOrder, plainCell, type StatementForm } from "../../domain/statement-form.js";
import { toCents } from "../../domain/values/cents.js";
import { type NairobiDay, nairobiDayOf } from "../../domain/values/nairobi-day.js";
import { signedAmount } from "../../rails/written-amount.js";
import { type DateOrder, writtenTime } from "../../rails/written-time.js";
import { LINES_MAX, recordsIn, type TableHeader } from "../files/tables.js";
import { StatementError } from "../statement-error.js";
import type { BankEntry, BankStatement } from "./bank-statement.js";

/** How a bank writes its table: an operator says it. */
export interface BankTable {
  /** The names in the header, in any case. */
  readonly columns: ReadonlyMap<BankColumn, string>;
  /** Which stands first in 01/02/2026. Undefined: a date that may be either is refused. */
  readonly dateOrder: DateOrder | undefined;
  /** What is the bank's number in the column `reference`, or in `text`. */
  readonly pattern: RegExp | undefined;
}

const ORDERS: Readonly<Record<BankDateOrder, DateOrder>> = { DAY_FIRST: "dayFirst", MONTH_FIRST: "monthFirst" };

/** Returns the table of a form. Undefined if the form has no columns. */
export function tableOf({ columns, dateOrder, referencePattern }: StatementForm): BankTable | undefined {
  return (
    columns && {
      columns: new Map(Object.entries(columns) as [BankColumn, string][]),
      dateOrder: dateOrder && ORDERS[dateOrder],
      pattern: referencePattern === undefined ? undefined : new RegExp(referencePattern, "u"),
    }
  );
}

interface TableRow {
  readonly line: number;
  readonly day: NairobiDay;
  /** What went out is negative. Zero: the row only says a balance. */
  readonly cents: number;
  readonly references: readonly string[];
  readonly typed: readonly string[];
  readonly balanceCents: number | undefined;
}

/** The reference that a payment of ours has in its file. */
const OWN_REFERENCE = /(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{16}[0-7][0-9a-hjkmnp-tv-z]{9}(?![0-9a-z])/gi;
/** A text names one payment. */
const OWN_REFERENCES_MAX = 10;

// The name of the bank, the account, the period and the address.
const LINES_BEFORE_HEADER_MAX = 50;
const TOTALS = /^(grand )?totals?:?$/i;

/**
 * Reads a table of a bank: CSV, a workbook or HTML. The header may stand behind other lines.
 *
 * Rejects with a StatementError that names the line and the column.
 */
export async function tableStatement(bytes: Buffer, table: BankTable): Promise<BankStatement> {
  const names = new Map([...table.columns].map(([column, name]) => [plainCell(name), column]));
  const format: TableHeader = {
    knownColumns: (cells) => new Set(cells.map(plainCell).filter((cell) => names.has(cell))).size,
  };
  const rows: TableRow[] = [];
  let places: ReadonlyMap<BankColumn, number> | undefined;
  let count = 0;
  for await (const records of recordsIn(bytes, format)) {
    count += records.length;
    if (count > LINES_MAX) throw new StatementError(`It has more than ${String(LINES_MAX)} rows.`);
    for (const { cells, line } of records) {
      if (places !== undefined) {
        const row = rowIn(cells, { line, table, places });
        if (row !== undefined) rows.push(row);
      } else {
        places = headerIn(cells, line, names);
        if (places === undefined && line > LINES_BEFORE_HEADER_MAX) throw noHeader(table);
      }
    }
  }
  if (places === undefined) throw noHeader(table);
  return statementOf(rows);
}

function headerIn(
  cells: readonly string[],
  line: number,
  names: ReadonlyMap<string, BankColumn>,
): ReadonlyMap<BankColumn, number> | undefined {
  const found = cells.map((cell) => names.get(plainCell(cell)));
  const places = new Map(found.flatMap((column, place) => (column === undefined ? [] : [[column, place] as const])));
  if (places.size < names.size) return undefined;
  const twice = found.find((column, place) => column !== undefined && places.get(column) !== place);
  if (twice !== undefined) throw new StatementError(`Line ${String(line)} has the column for ${twice} twice.`);
  return places;
}

function noHeader({ columns }: BankTable): StatementError {
  return new StatementError(
    `No line has all of the columns ${[...columns.values()].map((name) => `"${name}"`).join(", ")}.`,
  );
}

interface RowOptions {
  readonly line: number;
  readonly table: BankTable;
  readonly places: ReadonlyMap<BankColumn, number>;
}

/** Returns undefined for a line that is no row: of totals, or below the table. */
function rowIn(cells: readonly string[], { line, table, places }: RowOptions): TableRow | undefined {
  const cell = (column: BankColumn): string => (cells[places.get(column) ?? -1] ?? "").trim();
  const bad = (column: BankColumn, problem: string): StatementError =>
    new StatementError(`Line ${String(line)}: "${table.columns.get(column) ?? column}" ${problem}.`);
  const amountIn = (column: BankColumn): number | undefined => {
    const cents = signedAmount(cell(column));
    if (cents === "bad") throw bad(column, "is no amount such as 1,053.00");
    return cents;
  };
  const day = dayIn(cell("date"), table.dateOrder);
  if (typeof day === "object") {
    // Below the table stand sums and notes.
    const isOfTotals = cells.some((each) => TOTALS.test(each.trim()));
    const hasAmount = (["amount", "debit", "credit"] as const).some((column) => cell(column) !== "");
    if (isOfTotals || !hasAmount) return undefined;
    throw bad("date", day.problem);
  }
  const [amount, debit, credit] = [amountIn("amount"), amountIn("debit"), amountIn("credit")];
  if (credit !== undefined && credit < 0) throw bad("credit", "is negative");
  if ([amount, debit, credit].filter((each) => each !== undefined).length > 1) {
    throw bad("debit", "and the credit have an amount both");
  }
  const cents = amount ?? credit ?? (debit === undefined ? 0 : -Math.abs(debit));
  const balanceCents = cell("balance") === "" ? undefined : (amountIn("balance") ?? 0);
  if (cents === 0 && balanceCents === undefined) {
    throw bad(places.has("amount") ? "amount" : "debit", "has no amount");
  }
  const [reference, text] = [cell("reference"), cell("text")];
  const given = referencesIn(reference, text, table.pattern);
  // Many banks write the reference of an order into the text alone.
  const references = cents < 0 ? [...given, ...(text.match(OWN_REFERENCE) ?? []).slice(0, OWN_REFERENCES_MAX)] : given;
  return { line, day, cents, balanceCents, references, typed: [reference, text].filter((each) => each !== "") };
}

function referencesIn(reference: string, text: string, pattern: RegExp | undefined): readonly string[] {
  if (pattern === undefined) return reference === "" ? [] : [reference];
  const found = pattern.exec(reference) ?? pattern.exec(text);
  const [whole, inside] = found ?? [];
  const number = inside ?? whole;
  return number === undefined ? [] : [number];
}

function dayIn(text: string, order: DateOrder | undefined): NairobiDay | { readonly problem: string } {
  const time = writtenTime(text) ?? writtenTime(`${text} 00:00`);
  if (time === undefined) return { problem: "is no date such as 27/11/2026 or 2026-11-27" };
  const { isYearFirst, dayFirst, monthFirst } = time;
  const said = isYearFirst
    ? dayFirst
    : order === undefined
      ? dayFirst === monthFirst
        ? dayFirst
        : undefined
      : time[order];
  if (said !== undefined) return nairobiDayOf(said);
  return {
    problem:
      order === undefined
        ? "may have the day or the month first: say which"
        : `is no date with the ${order === "dayFirst" ? "day" : "month"} first`,
  };
}

function statementOf(rows: readonly TableRow[]): BankStatement {
  const isNewestFirst = (rows[0]?.day ?? "") > (rows.at(-1)?.day ?? "");
  const [likely, other] = isNewestFirst ? [rows.toReversed(), rows] : [rows, rows.toReversed()];
  const gap = firstGap(likely);
  // A table of one day may have the newest row first, too.
  const isTurned = gap !== undefined && firstGap(other) === undefined;
  const inTime = isTurned ? other : likely;
  const last = inTime.at(-1);
  const isCertain = rows[0]?.day !== rows.at(-1)?.day || isTurned || firstGap(other) !== undefined || rows.length === 1;
  return {
    id: undefined,
    account: undefined,
    opening: undefined,
    closing: last?.balanceCents !== undefined && isCertain ? { cents: last.balanceCents, day: last.day } : undefined,
    entries: inTime.filter(({ cents }) => cents !== 0).map(entryOf),
    notBooked: 0,
    doubts:
      gap === undefined || isTurned
        ? []
        : [
            "A row is missing, or an amount was changed: " +
              `the balance of line ${String(gap.line)} does not follow from the row before it.`,
          ],
  };
}

function entryOf({ day, cents, references, typed }: TableRow): BankEntry {
  const moved = { direction: cents < 0 ? "out" : "in", amountCents: toCents(Math.abs(cents)) } as const;
  const entry = { ...moved, day, references, isReversal: false, isCharge: false, parts: [] };
  return cents < 0 ? entry : { ...entry, typed };
}

/** Returns the first row whose balance does not follow. Rows without one prove nothing. */
function firstGap(rows: readonly TableRow[]): TableRow | undefined {
  let expected: number | undefined;
  for (const row of rows) {
    if (expected !== undefined) expected += row.cents;
    if (row.balanceCents === undefined) continue;
    if (expected !== undefined && expected !== row.balanceCents) return row;
    expected = row.balanceCents;
  }
  return undefined;
}
