import { createReadStream } from "node:fs";

import { CsvError, parse } from "csv-parse";

import { OperatorError } from "../../startup/operator-error.js";

/** A record of a CSV file. */
export interface CsvRecord {
  readonly record: readonly string[];
  /** The text of the record, as it stands in the file. */
  readonly raw: string;
  /** `lines` is the number of the last line that was read. */
  readonly info: { readonly lines: number };
}

/**
 * Reads a CSV file of any size, record by record. Skips empty lines. The number of cells may differ
 * between records. Without `recordBytesMax`, an unclosed quote would turn the remaining file into
 * one record.
 *
 * Throws an OperatorError if the file cannot be read or is not CSV.
 */
export async function* csvRecords(
  file: string,
  { recordBytesMax }: { readonly recordBytesMax: number },
): AsyncGenerator<CsvRecord, void, void> {
  const parser = parse({
    bom: true,
    info: true,
    raw: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: recordBytesMax,
  });
  const records: AsyncIterable<CsvRecord> = createReadStream(file)
    .on("error", (error) => parser.destroy(error))
    .pipe(parser);
  try {
    yield* records;
  } catch (error) {
    if (error instanceof CsvError)
      throw new OperatorError(`The file is not valid CSV: ${error.message}.`, { cause: error });
    if (error instanceof Error && "syscall" in error)
      throw new OperatorError(`The file cannot be read: ${error.message}.`);
    throw error;
  }
}
