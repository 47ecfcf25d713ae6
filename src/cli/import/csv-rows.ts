import { createReadStream } from "node:fs";

import { CsvError, parse } from "csv-parse";

import type { TransactionRequest } from "../../gen/kesc/v1/transaction_service.js";
import type { FieldProblem } from "../../grpc/messages/fields.js";
import { parseMovement } from "../../grpc/services/move-money.js";
import { OperatorError } from "../../startup/operator-error.js";

/** One line of the file, as far as it could be read. */
export type Row = GoodRow | BadRow;

export interface GoodRow {
  readonly kind: "good";
  /** Counted from 1, the header's; of a record of several lines the first. */
  readonly line: number;
  /** The line's own text. */
  readonly text: string;
  readonly request: TransactionRequest;
}

export interface BadRow {
  readonly kind: "bad";
  readonly line: number;
  /** What is wrong, each with the name of its column. */
  readonly problems: readonly FieldProblem[];
}

const REQUIRED_COLUMNS = ["type", "account_id", "amount", "reference"] as const;
const OPTIONAL_COLUMNS = ["description"] as const;
const METADATA_PREFIX = "metadata.";

// The largest request of all, 20 pairs of metadata in four-byte characters, is some 44 KiB. A quote
// that is never closed would make a record of the rest of the file.
const RECORD_BYTES_MAX = 131_072;

interface CsvRecord {
  readonly record: readonly string[];
  readonly raw: string;
  /** `lines` is the number of the last line that was read. */
  readonly info: { readonly lines: number };
}

/**
 * Reads the file line by line, whatever its size. First answers the header, as it stands there.
 * Throws an OperatorError when the file can't be read, is not CSV, or has other columns than type,
 * account_id, amount, reference, description and metadata.KEY.
 */
export async function* readRows(file: string): AsyncGenerator<{ readonly header: string } | Row> {
  let columns: readonly string[] | undefined;
  try {
    for await (const csv of csvRecords(file)) {
      if (columns === undefined) {
        columns = columnsOf(csv.record);
        yield { header: csv.raw.trim() };
      } else {
        yield rowOf(columns, csv);
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new OperatorError(`It is not CSV: ${error.message}.`, 1, { cause: error });
    if (error instanceof Error && "syscall" in error) throw new OperatorError(`It can't be read: ${error.message}.`);
    throw error;
  }
  if (columns === undefined) throw new OperatorError("It is empty. Its first line must name the columns.");
}

function csvRecords(file: string): AsyncIterable<CsvRecord> {
  const parser = parse({
    bom: true,
    info: true,
    raw: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    // Checked here, so that every such line is named and not only the first.
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: RECORD_BYTES_MAX,
  });
  return createReadStream(file)
    .on("error", (error) => parser.destroy(error))
    .pipe(parser);
}

function columnsOf(names: readonly string[]): readonly string[] {
  const known: readonly string[] = [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS];
  const problems = [
    ...REQUIRED_COLUMNS.filter((name) => !names.includes(name)).map((name) => `has no column ${name}`),
    ...names
      .filter((name) => !known.includes(name) && !(name.startsWith(METADATA_PREFIX) && name !== METADATA_PREFIX))
      .map((name) => `has a column "${name}", which there is not`),
    ...names.filter((name, index) => names.indexOf(name) < index).map((name) => `has the column ${name} twice`),
  ];
  if (problems.length === 0) return names;
  const columns = [...known, `${METADATA_PREFIX}KEY`].join(", ");
  throw new OperatorError(`The header ${problems.join(", ")}. The columns are ${columns}.`);
}

function rowOf(columns: readonly string[], { record, raw, info }: CsvRecord): Row {
  const text = raw.trim();
  const line = info.lines - (text.split(/\r\n|\n|\r/).length - 1);
  if (record.length !== columns.length) {
    const message = `must have ${String(columns.length)} cells, as the header has; there are ${String(record.length)}`;
    return { kind: "bad", line, problems: [{ field: "line", message }] };
  }
  const cells = new Map(columns.map((column, index) => [column, record[index] ?? ""]));
  const cell = (column: string): string => cells.get(column) ?? "";
  const value = {
    account_id: cell("account_id"),
    amount: cell("amount"),
    reference: cell("reference"),
    description: cell("description"),
    metadata: metadataOf(cells),
  };
  const type = cell("type");
  const problems = type === "mint" || type === "redeem" ? [] : [{ field: "type", message: "must be mint or redeem" }];
  const movement = parseMovement(value);
  if (problems.length > 0 || !movement.ok) {
    return { kind: "bad", line, problems: [...problems, ...(movement.ok ? [] : movement.fields)] };
  }
  const request = { movement: { $case: type === "mint" ? "mint" : "redeem", value }, idempotency_key: "" } as const;
  return { kind: "good", line, text, request };
}

/** An empty cell is no pair. */
function metadataOf(cells: ReadonlyMap<string, string>): Map<string, string> {
  const pairs = [...cells].filter(([column, cell]) => column.startsWith(METADATA_PREFIX) && cell !== "");
  return new Map(pairs.map(([column, cell]) => [column.slice(METADATA_PREFIX.length), cell]));
}
