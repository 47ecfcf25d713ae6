import type { CsvRecord } from "../../runtime/csv-records.js";
import { slicesOf } from "../../runtime/slices.js";
import type { RailReceipt } from "../domain/payment.js";
import { chargeReceiptOf } from "../domain/receipt.js";
import type { TransactionId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { StatementFormat, StatementRow } from "../rails/statement.js";
import type { UnnamedMovement } from "./reconcile.js";
import { type ReconciledPeriod, signed } from "./reconciliation.js";

/** The rows that one look at the book compares. */
export const SLICE_ROWS = 500;
export const RECORD_BYTES_MAX = 65_536;

/** What a statement had besides movements. Grows while the file is read. */
export interface StatementFacts {
  /** What the rail took for each movement, by its receipt. */
  readonly charges: Map<RailReceipt, StatementCharge>;
  notCompleted: number;
  /** From the first to the last movement of the file. */
  period: ReconciledPeriod | undefined;
}

/** The charges of a rail for one movement, together. */
export interface StatementCharge {
  /** What it took is negative. */
  readonly cents: number;
  readonly completedAt: UnixMillis;
}

/** A statement as the rail's portal exports it. */
export interface Statement {
  /** What messages call it: the name of a file. */
  readonly name: string;
  readonly format: StatementFormat;
  /** Reads it from its beginning. */
  readonly records: () => AsyncIterable<CsvRecord>;
}

/** The text is no statement of the rail, or cannot be read. Its words are for people. */
export class StatementError extends Error {
  override readonly name: string = "StatementError";
}

/**
 * Reads the statement of an account as the rail's portal exports it, of any size. Throws an
 * StatementError if it is no such statement, or has a row that cannot be read: half a
 * statement proves nothing.
 */
export async function* statementMovements(
  { name, ...statement }: Statement,
  facts: StatementFacts,
): AsyncGenerator<readonly UnnamedMovement[], void, void> {
  let slice: UnnamedMovement[] = [];
  for await (const { cell, line } of rowsOf({ name, ...statement })) {
    const read = statement.format.readRow(cell);
    if (read.kind === "bad") {
      throw new StatementError(`Line ${String(line)} of ${name}: "${read.column}" ${read.problem}.`);
    }
    if (read.kind === "not_completed") facts.notCompleted += 1;
    else if (read.row.isCharge) addCharge(facts.charges, read.row);
    else {
      facts.period = widened(facts.period, read.row);
      slice.push(movementOf(read.row));
    }
    if (slice.length === SLICE_ROWS) {
      yield slice;
      slice = [];
    }
  }
  if (slice.length > 0) yield slice;
  yield* chargeMovements(facts.charges);
}

/** Reads the charges alone. Rejects as `statementMovements` does. */
export async function chargesIn(statement: Statement): Promise<StatementFacts["charges"]> {
  const facts: StatementFacts = { charges: new Map(), notCompleted: 0, period: undefined };
  const movements = statementMovements(statement, facts);
  while ((await movements.next()).done !== true);
  return facts.charges;
}

/** A movement may have several charges. The book has their sum. */
function addCharge(charges: StatementFacts["charges"], row: StatementRow): void {
  const { receipt, completedAt } = row;
  charges.set(receipt, { cents: (charges.get(receipt)?.cents ?? 0) + signed(row), completedAt });
}

function chargeMovements(charges: StatementFacts["charges"]): Generator<readonly UnnamedMovement[], void, void> {
  const movements = [...charges].map(([receipt, { cents, completedAt }]) => ({
    receipt: chargeReceiptOf(receipt),
    completedAt,
    direction: cents < 0 ? ("out" as const) : ("in" as const),
    amountCents: Math.abs(cents),
    transactionId: undefined,
    idEnd: undefined,
  }));
  return slicesOf(
    movements.filter(({ amountCents }) => amountCents !== 0),
    SLICE_ROWS,
  );
}

function movementOf(row: StatementRow): UnnamedMovement {
  const { receipt, completedAt, direction, amountCents, idEnd } = row;
  const transactionId = row.transactionId as TransactionId | undefined;
  return { receipt, completedAt, direction, amountCents, transactionId, idEnd };
}

function widened(period: ReconciledPeriod | undefined, { completedAt }: StatementRow): ReconciledPeriod {
  const { from = completedAt, to = completedAt } = period ?? {};
  return { from: toUnixMillis(Math.min(from, completedAt)), to: toUnixMillis(Math.max(to, completedAt)) };
}

interface FileLine {
  readonly cell: (column: string) => string;
  readonly line: number;
}

async function* rowsOf({ name, format, records }: Statement): AsyncGenerator<FileLine, void, void> {
  let columns: ReadonlyMap<string, number> | undefined;
  for await (const { record, info } of records()) {
    if (columns === undefined) {
      columns = columnsIn(record, format);
      if (columns === undefined && info.lines > format.linesBeforeHeaderMax) break;
    } else {
      const places = columns;
      yield { cell: (column) => (record[places.get(column) ?? -1] ?? "").trim(), line: info.lines };
    }
  }
  if (columns === undefined) {
    throw new StatementError(
      `${name} is no statement of this rail: no line has the columns ${format.columns.join(", ")}.`,
    );
  }
}

/** Returns the places of the columns, or undefined for a line before the header. */
function columnsIn(record: readonly string[], format: StatementFormat): ReadonlyMap<string, number> | undefined {
  const columns = new Map(record.map((name, place) => [name.trim(), place]));
  return format.columns.every((name) => columns.has(name)) ? columns : undefined;
}
