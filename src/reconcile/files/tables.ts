import { type CsvBounds, CsvError, type CsvRecord, csvRecordsOf } from "../../../runtime/csv-reader.js";
import type { StatementFormat } from "../../rails/statement.js";
import { StatementError } from "../statement-error.js";
import { htmlTables } from "./html.js";
import type { FileTable } from "./table.js";
import { xlsxTables } from "./xlsx.js";

/** The most bytes of the file of a statement. */
export const FILE_BYTES_MAX = 32 * 1_024 * 1_024;
/** The lines of a statement at most: all of them are in memory together. */
export const LINES_MAX = 50_000;
/** What a row of a statement has at most. Those of M-Pesa have some 13 columns. */
export const STATEMENT_BOUNDS: CsvBounds = { recordBytesMax: 65_536, recordCellsMax: 100 };

const { recordBytesMax: RECORD_MAX } = STATEMENT_BOUNDS;

const SEPARATORS = [",", ";", "\t"] as const;
/** In so many characters the header shows the separator. */
const SEPARATOR_CHARACTERS = 16_384;
const SEPARATOR_LINES = 50;
const ZIP = Buffer.from("PK\u0003\u0004", "latin1");
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);
const UTF_16 = Buffer.from([0xff, 0xfe]);
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/** Finds the header of a table. */
export type TableHeader = Pick<StatementFormat, "knownColumns">;

/** What a file is, by its first bytes. Names of files lie: HTML is often called .xls. */
type FileKind = "csv" | "html" | "xlsx";

/** Throws a StatementError for a file that cannot be read, and says what to do. */
function fileKindOf(bytes: Buffer): FileKind {
  if (bytes.subarray(0, OLE.length).equals(OLE)) {
    throw new StatementError(
      "It is a workbook of Excel 97 to 2003 (.xls), which cannot be read. Open it in a spreadsheet, and save it as .xlsx.",
    );
  }
  if (bytes.subarray(0, UTF_16.length).equals(UTF_16)) {
    throw new StatementError("It is text in UTF-16. Save it as CSV in UTF-8.");
  }
  if (bytes.subarray(0, ZIP.length).equals(ZIP)) return "xlsx";
  const start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  return /^\s*</.test(bytes.toString("latin1", start, start + SEPARATOR_LINES)) ? "html" : "csv";
}

/** Returns the separator of CSV, as the header shows it. A spreadsheet may write others. */
export function separatorIn(bytes: Buffer, format: TableHeader): string {
  const beginning = bytes.toString("utf8", 0, SEPARATOR_CHARACTERS);
  const lines = beginning.split(/\r\n|\n|\r/, SEPARATOR_LINES + 1);
  const known = (separator: string): number =>
    Math.max(...lines.map((line) => format.knownColumns(line.replaceAll('"', "").split(separator))));
  return SEPARATORS.reduce((best, separator) => (known(separator) > known(best) ? separator : best));
}

/** Reads the lines of a file. Rejects with a StatementError. */
export async function* recordsIn(bytes: Buffer, format: TableHeader): AsyncGenerator<readonly CsvRecord[], void, void> {
  const kind = fileKindOf(bytes);
  if (kind !== "csv") {
    const tables = kind === "xlsx" ? await xlsxTables(bytes) : htmlTables(bytes.toString("utf8"));
    yield recordsOf(tables, format);
    return;
  }
  try {
    yield* csvRecordsOf(piecesOf(bytes), { ...STATEMENT_BOUNDS, separator: separatorIn(bytes, format) });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new StatementError(`It is not valid CSV: ${error.message}.`, { cause: error });
  }
}

const PIECE_BYTES = 65_536;

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield await Promise.resolve(bytes.subarray(start, start + PIECE_BYTES));
  }
}

/** Of several tables, the one whose header names most columns. */
function recordsOf(tables: readonly FileTable[], format: TableHeader): readonly CsvRecord[] {
  const known = (table: FileTable): number =>
    Math.max(0, ...table.slice(0, SEPARATOR_LINES + 1).map((cells) => format.knownColumns(cells)));
  const [first = [], ...others] = tables;
  const found = others.reduce((best, table) => (known(table) > known(best) ? table : best), first);
  const tooLong = found.findIndex((cells) => cells.reduce((sum, { length }) => sum + length, 0) > RECORD_MAX);
  if (tooLong >= 0) {
    throw new StatementError(
      `It is not valid: row ${String(tooLong + 1)} has more than ${String(RECORD_MAX)} characters.`,
    );
  }
  return found.map((cells, index) => ({ cells, raw: "", line: index + 1 }));
}
