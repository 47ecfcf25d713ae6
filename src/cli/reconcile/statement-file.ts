import type { TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { readStatementRow, STATEMENT_COLUMNS, type StatementRow } from "../../rails/mpesa/reconciliation/statement.js";
import { transactionEndOf } from "../../rails/mpesa/stk.js";
import type { UnnamedMovement } from "../../reconcile/reconcile.js";
import type { Period } from "../../reconcile/reconciliation.js";
import { OperatorError } from "../../startup/operator-error.js";
import { csvRecords } from "../import/csv-records.js";

const SLICE_ROWS = 500;
const RECORD_BYTES_MAX = 65_536;
// M-Pesa writes the name of the organization, the shortcode and the period before the header.
const LINES_BEFORE_HEADER_MAX = 50;

/** What a statement had besides movements. Grows while the file is read. */
export interface StatementFacts {
  charges: number;
  chargesCents: bigint;
  notCompleted: number;
  /** From the first to the last movement of the file. */
  period: Period | undefined;
}

/**
 * Reads the statement of a shortcode as M-Pesa's portal exports it, of any size. Throws an
 * OperatorError if the file is no such statement, or has a row that cannot be read: half a
 * statement proves nothing.
 */
export async function* statementMovements(
  file: string,
  facts: StatementFacts,
): AsyncGenerator<readonly UnnamedMovement[], void, void> {
  let slice: UnnamedMovement[] = [];
  for await (const { cell, line } of rowsOf(file)) {
    const read = readStatementRow(cell);
    if (read.kind === "bad") {
      throw new OperatorError(`Line ${String(line)} of ${file}: "${read.column}" ${read.problem}.`);
    }
    if (read.kind === "not_completed") facts.notCompleted += 1;
    else if (read.row.isCharge) {
      facts.charges += 1;
      facts.chargesCents += BigInt(read.row.amountCents);
    } else {
      facts.period = widened(facts.period, read.row);
      slice.push(movementOf(read.row));
    }
    if (slice.length === SLICE_ROWS) {
      yield slice;
      slice = [];
    }
  }
  if (slice.length > 0) yield slice;
}

function movementOf({ receipt, completedAt, direction, amountCents, ...names }: StatementRow): UnnamedMovement {
  const { accountReference, transactionId } = names;
  return {
    receipt,
    completedAt,
    direction,
    amountCents,
    transactionId: transactionId as TransactionId | undefined,
    idEnd: transactionEndOf(accountReference),
  };
}

function widened(period: Period | undefined, { completedAt }: StatementRow): Period {
  const { from = completedAt, to = completedAt } = period ?? {};
  return { from: toUnixMillis(Math.min(from, completedAt)), to: toUnixMillis(Math.max(to, completedAt)) };
}

interface StatementLine {
  readonly cell: (column: string) => string;
  readonly line: number;
}

async function* rowsOf(file: string): AsyncGenerator<StatementLine, void, void> {
  let columns: ReadonlyMap<string, number> | undefined;
  for await (const { record, info } of csvRecords(file, { recordBytesMax: RECORD_BYTES_MAX })) {
    if (columns === undefined) {
      columns = columnsIn(record);
      if (columns === undefined && info.lines > LINES_BEFORE_HEADER_MAX) break;
    } else {
      const places = columns;
      yield { cell: (column) => (record[places.get(column) ?? -1] ?? "").trim(), line: info.lines };
    }
  }
  if (columns === undefined) {
    throw new OperatorError(
      `${file} is no statement of M-Pesa: no line has the columns ${STATEMENT_COLUMNS.join(", ")}.`,
    );
  }
}

/** Returns the places of the columns, or undefined for a line before the header. */
function columnsIn(record: readonly string[]): ReadonlyMap<string, number> | undefined {
  const columns = new Map(record.map((name, place) => [name.trim(), place]));
  return STATEMENT_COLUMNS.every((name) => columns.has(name)) ? columns : undefined;
}
