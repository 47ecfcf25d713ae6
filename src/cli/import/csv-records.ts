import { createReadStream } from "node:fs";

import { type CsvBounds, CsvError, type CsvRecord, csvRecordsOf } from "../../../runtime/csv-reader.js";
import { OperatorError } from "../../startup/operator-error.js";

/**
 * Reads a CSV file. Yields its records, several at a time. Throws an OperatorError if the file
 * cannot be read or is not CSV.
 */
export async function* csvRecords(file: string, bounds: CsvBounds): AsyncGenerator<readonly CsvRecord[], void, void> {
  try {
    yield* csvRecordsOf(createReadStream(file), bounds);
  } catch (error) {
    if (error instanceof CsvError)
      throw new OperatorError(`The file is not valid CSV: ${error.message}.`, { cause: error });
    if (error instanceof Error && "syscall" in error)
      throw new OperatorError(`The file cannot be read: ${error.message}.`);
    throw error;
  }
}
