import { slicesOf } from "../../../runtime/slices.js";
import type { RailReceipt } from "../../domain/payment.js";
import { chargeReceiptOf } from "../../domain/receipt.js";
import type { TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { StatementFormat, StatementRow } from "../../rails/statement.js";
import type { UnnamedMovement } from "../../reconcile/reconcile.js";
import { type ReconciledPeriod, signed } from "../../reconcile/reconciliation.js";
import { OperatorError } from "../../startup/operator-error.js";
import { csvRecords } from "../import/csv-records.js";

/** The rows that one look at the book compares. */
export const SLICE_ROWS = 500;
const RECORD_BYTES_MAX = 65_536;

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

export interface StatementFile {
  readonly file: string;
  readonly format: StatementFormat;
}

/**
 * Reads the statement of an account as the rail's portal exports it, of any size. Throws an
 * OperatorError if the file is no such statement, or has a row that cannot be read: half a
 * statement proves nothing.
 */
export async function* statementMovements(
  { file, format }: StatementFile,
  facts: StatementFacts,
): AsyncGenerator<readonly UnnamedMovement[], void, void> {
  let slice: UnnamedMovement[] = [];
  for await (const { cell, line } of rowsOf({ file, format })) {
    const read = format.readRow(cell);
    if (read.kind === "bad") {
      throw new OperatorError(`Line ${String(line)} of ${file}: "${read.column}" ${read.problem}.`);
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
export async function chargesIn(statement: StatementFile): Promise<StatementFacts["charges"]> {
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

async function* rowsOf({ file, format }: StatementFile): AsyncGenerator<FileLine, void, void> {
  let columns: ReadonlyMap<string, number> | undefined;
  for await (const { record, info } of csvRecords(file, { recordBytesMax: RECORD_BYTES_MAX })) {
    if (columns === undefined) {
      columns = columnsIn(record, format);
      if (columns === undefined && info.lines > format.linesBeforeHeaderMax) break;
    } else {
      const places = columns;
      yield { cell: (column) => (record[places.get(column) ?? -1] ?? "").trim(), line: info.lines };
    }
  }
  if (columns === undefined) {
    throw new OperatorError(
      `${file} is no statement of this rail: no line has the columns ${format.columns.join(", ")}.`,
    );
  }
}

/** Returns the places of the columns, or undefined for a line before the header. */
function columnsIn(record: readonly string[], format: StatementFormat): ReadonlyMap<string, number> | undefined {
  const columns = new Map(record.map((name, place) => [name.trim(), place]));
  return format.columns.every((name) => columns.has(name)) ? columns : undefined;
}
