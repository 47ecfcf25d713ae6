import type { Readable } from "node:stream";

import { parse } from "csv-parse";

/** A record of CSV. */
export interface CsvRecord {
  readonly record: readonly string[];
  /** The text of the record, as it stands in the source. */
  readonly raw: string;
  /** `lines` is the number of the last line that was read. */
  readonly info: { readonly lines: number };
}

/**
 * Reads CSV of any size, record by record. Skips empty lines. The number of cells may differ
 * between records. Without `recordBytesMax`, an unclosed quote would turn the remaining source into
 * one record.
 *
 * Throws a CsvError if the source is not CSV, and the error of the source.
 */
export function csvRecordsOf(
  source: Readable,
  { recordBytesMax }: { readonly recordBytesMax: number },
): AsyncIterable<CsvRecord> {
  const parser = parse({
    bom: true,
    info: true,
    raw: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: recordBytesMax,
  });
  return source.on("error", (error) => parser.destroy(error)).pipe(parser);
}
