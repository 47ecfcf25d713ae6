import type { CsvRecord } from "../../runtime/csv-reader.js";
import { slicesOf } from "../../runtime/slices.js";
import type { RailReceipt } from "../domain/payment.js";
import { chargeReceiptOf } from "../domain/receipt.js";
import type { TransactionId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { StatementFormat, StatementProblem, StatementRow, StatementWords } from "../rails/statement.js";
import { LINES_MAX } from "./files/tables.js";
import type { UnnamedMovement } from "./reconcile.js";
import { type ReconciledPeriod, signed } from "./reconciliation.js";
import { StatementError } from "./statement-error.js";

/** The rows that one look at the book compares. */
export const SLICE_ROWS = 500;
/** What a statement says, read as a whole. */
export interface StatementFacts {
  /** What moved, without the charges. */
  readonly rows: readonly StatementRow[];
  /** What the rail took for each movement, by its receipt. */
  readonly charges: ReadonlyMap<RailReceipt, StatementCharge>;
  readonly notCompleted: number;
  /** From the first to the last movement of the file. */
  readonly period: ReconciledPeriod | undefined;
  /** What makes the file doubtful: sentences for people. */
  readonly doubts: readonly string[];
}

/** The charges of a rail for one movement, together. */
export interface StatementCharge {
  /** Negative: the rail took it. Positive: the rail gave it back. */
  readonly cents: number;
  readonly completedAt: UnixMillis;
}

/** A statement as the rail's portal exports it. */
export interface Statement {
  /** The name of the file, which may name an account. Empty if nobody knows it. */
  readonly name: string;
  readonly format: StatementFormat;
  /** The numbers of the account at the rail. The statement of another account is refused. */
  readonly numbers: readonly string[];
  /** The words that its settings add, which tell the kind of a row. */
  readonly words?: StatementWords | undefined;
  /** Reads it from its beginning, several records at a time. */
  readonly records: () => AsyncIterable<readonly CsvRecord[]>;
}

/**
 * Reads the statement of an account as the rail's portal exports it. Only the whole file says what
 * its rows are: which of two is a charge, and whether the day or the month stands first.
 *
 * Throws a StatementError if it is no such statement, or has a row that cannot be read: half a
 * statement proves nothing.
 */
export async function readStatement({ name, format, numbers, words, records }: Statement): Promise<StatementFacts> {
  const reader = format.reader({ name, numbers, words });
  const refuse = ({ problem }: StatementProblem): never => {
    throw new StatementError(`${problem}.`);
  };
  let count = 0;
  for await (const piece of records()) {
    count += piece.length;
    if (count > LINES_MAX) throw new StatementError(`It has more than ${String(LINES_MAX)} rows.`);
    for (const { cells, line } of piece) {
      const problem = reader.add(cells, line);
      if (problem !== undefined) refuse(problem);
    }
  }
  const read = reader.end();
  if ("problem" in read) return refuse(read);
  const charges = new Map<RailReceipt, StatementCharge>();
  for (const row of read.rows) if (row.kind === "charge") addCharge(charges, row);
  const rows = read.rows.filter(({ kind }) => kind !== "charge");
  return { rows, charges, notCompleted: read.notCompleted, period: periodOf(rows), doubts: read.doubts };
}

/** Returns the movements of a statement, and then its charges. */
export function* statementMovements({
  rows,
  charges,
}: StatementFacts): Generator<readonly UnnamedMovement[], void, void> {
  for (const slice of slicesOf(rows, SLICE_ROWS)) yield slice.map(movementOf);
  yield* chargeMovements(charges);
}

/** A movement may have several charges. The book has their sum. */
export function addCharge(charges: Map<RailReceipt, StatementCharge>, row: StatementRow): void {
  const { receipt, completedAt } = row;
  charges.set(receipt, { cents: (charges.get(receipt)?.cents ?? 0) + signed(row), completedAt });
}

function chargeMovements(charges: StatementFacts["charges"]): Generator<readonly UnnamedMovement[], void, void> {
  const movements = [...charges].map(([receipt, { cents, completedAt }]) => ({
    receipt: chargeReceiptOf(receipt),
    completedAt,
    direction: cents < 0 ? ("out" as const) : ("in" as const),
    amountCents: Math.abs(cents),
    kind: "charge" as const,
    linkedReceipt: undefined,
    transactionId: undefined,
    idEnd: undefined,
  }));
  return slicesOf(
    movements.filter(({ amountCents }) => amountCents !== 0),
    SLICE_ROWS,
  );
}

function movementOf(row: StatementRow): UnnamedMovement {
  const { receipt, completedAt, direction, amountCents, kind, idEnd, linkedReceipt } = row;
  const transactionId = row.transactionId as TransactionId | undefined;
  return { receipt, completedAt, direction, amountCents, kind, linkedReceipt, transactionId, idEnd };
}

function periodOf(rows: readonly StatementRow[]): ReconciledPeriod | undefined {
  let period: ReconciledPeriod | undefined;
  for (const { completedAt } of rows) {
    const { from = completedAt, to = completedAt } = period ?? {};
    period = { from: toUnixMillis(Math.min(from, completedAt)), to: toUnixMillis(Math.max(to, completedAt)) };
  }
  return period;
}
