import type { CsvBounds, CsvRecord } from "../../../runtime/csv-reader.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import type { TransactionRequest } from "../../gen/kesc/v1/transaction_service.js";
import type { FieldProblem } from "../../grpc/messages/fields.js";
import { parseMovement } from "../../grpc/services/move-money.js";
import { OperatorError } from "../../startup/operator-error.js";
import { csvRecords } from "./csv-records.js";

/** One line of the file, valid or not. */
export type CsvRow = GoodRow | BadRow;

export interface GoodRow {
  readonly kind: "good";
  /** The line number. The header is line 1. For a record of several lines, this is the first. */
  readonly line: number;
  /** The original text of the line. */
  readonly text: string;
  readonly request: TransactionRequest;
}

export interface BadRow {
  readonly kind: "bad";
  readonly line: number;
  /** The problems of the line. `field` is the name of the column. */
  readonly problems: readonly FieldProblem[];
}

const REQUIRED_COLUMNS = ["type", "account_id", "amount", "reference"] as const;
const OPTIONAL_COLUMNS = ["description", "rail", "receipt.source", "receipt.number", "destination_id"] as const;
const METADATA_PREFIX = "metadata.";

// The largest valid record has some 44 KiB: 20 pairs of metadata in four-byte characters. The rows
// of a file may have pairs of different keys.
const BOUNDS: CsvBounds = { recordBytesMax: 131_072, recordCellsMax: 1_000 };

/**
 * Reads a file of any size, line by line. Yields the original header first.
 *
 * Throws an OperatorError if the file cannot be read or is not CSV. Also throws if a required
 * column is missing, or if a column is unknown or occurs twice.
 */
export async function* readRows(file: string): AsyncGenerator<{ readonly header: string } | CsvRow> {
  let columns: readonly string[] | undefined;
  for await (const records of csvRecords(file, BOUNDS)) {
    for (const csv of records) {
      if (columns === undefined) {
        columns = columnsOf(csv.cells);
        yield { header: csv.raw };
      } else {
        yield rowOf(columns, csv);
      }
    }
  }
  if (columns === undefined) throw new OperatorError("The file is empty. Its first line must name the columns.");
}

function columnsOf(names: readonly string[]): readonly string[] {
  const known: readonly string[] = [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS];
  const problems = [
    ...REQUIRED_COLUMNS.filter((name) => !names.includes(name)).map((name) => `lacks the column ${name}`),
    ...names
      .filter((name) => !known.includes(name) && !(name.startsWith(METADATA_PREFIX) && name !== METADATA_PREFIX))
      .map((name) => `has the unknown column "${name}"`),
    ...names.filter((name, index) => names.indexOf(name) < index).map((name) => `has the column ${name} twice`),
  ];
  if (problems.length === 0) return names;
  const columns = [...known, `${METADATA_PREFIX}KEY`].join(", ");
  throw new OperatorError(`The header ${problems.join(", ")}. Known columns: ${columns}.`);
}

function rowOf(columns: readonly string[], { cells: record, raw: text, line }: CsvRecord): CsvRow {
  // The reader accepts records of any length, so that the command reports every such line.
  if (record.length !== columns.length) {
    const message = `must have ${String(columns.length)} cells, like the header, but has ${String(record.length)}`;
    return { kind: "bad", line, problems: [{ field: "line", message, code: "FORMAT" }] };
  }
  const cells = new Map(columns.map((column, index) => [column, record[index] ?? ""]));
  const cell = (column: string): string => cells.get(column) ?? "";
  const [source, number] = [cell("receipt.source"), cell("receipt.number")];
  const value = {
    account_id: cell("account_id"),
    amount: cell("amount"),
    reference: cell("reference"),
    description: cell("description"),
    metadata: metadataOf(cells),
    // Named, whatever the organization's default rail is: a file must not send prompts to thousands
    // of phones because nobody thought of it.
    rail: cell("rail") || DIRECT_RAIL,
    payer_phone_number: "",
    receipt: source === "" && number === "" ? undefined : { source, number },
    destination_id: cell("destination_id"),
  };
  const type = cell("type");
  const problems: FieldProblem[] =
    type === "mint" || type === "redeem"
      ? []
      : [{ field: "type", message: "must be mint or redeem", code: "UNKNOWN_VALUE" }];
  if (type === "mint" && value.destination_id !== "") {
    problems.push({ field: "destination_id", message: "must be empty in a mint", code: "CONFLICT" });
  }
  const movement = parseMovement(value, DIRECT_RAIL);
  if (problems.length > 0 || !movement.ok) {
    return { kind: "bad", line, problems: [...problems, ...(movement.ok ? [] : movement.fields)] };
  }
  const request = { movement: { $case: type === "mint" ? "mint" : "redeem", value }, idempotency_key: "" } as const;
  return { kind: "good", line, text, request };
}

/** Skips empty cells. */
function metadataOf(cells: ReadonlyMap<string, string>): Map<string, string> {
  const pairs = [...cells].filter(([column, cell]) => column.startsWith(METADATA_PREFIX) && cell !== "");
  return new Map(pairs.map(([column, cell]) => [column.slice(METADATA_PREFIX.length), cell]));
}
